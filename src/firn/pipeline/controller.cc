#include "firn/pipeline/controller.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "firn/obs/log.h"
#include "firn/pipeline/table_definition.h"
#include "firn/pipeline/waiting_start.h"

namespace firn::pipeline {

namespace {

using record::SourcePartition;

constexpr int kControlPollMs = 10;
constexpr int64_t kLagEveryMs = 2'000;
constexpr int64_t kRevokeBoundMs = 60'000;
constexpr int64_t kRefusedGraceMs = 3'000;
constexpr int kRefusedLimit = 2;
constexpr int64_t kPauseMs = 500;
constexpr int64_t kNsPerMs = 1'000'000;
constexpr size_t kCommitters = 8;

}  // namespace

Controller::Controller(const PipelineConfig& config, PipelineDeps& deps, const RunOptions& options,
                       StatusBoard& status)
    : config_(config),
      deps_(deps),
      options_(options),
      status_(status),
      clock_(*deps.clock),
      metrics_(*deps.metrics, config.id),
      view_(config.id, status, metrics_, clock_),
      book_(config),
      control_(DeadLetterSink(deps.dead_letter_catalog, config.dead_letters, config.id, *deps.clock,
                              *deps.ids, deps.pool),
               *deps.threads) {}

Controller::~Controller() {
  abort_.request_stop();
  flow_.reset();
  committers_.reset();
  io_.reset();
  if (source_) source_->Close();
}

Status Controller::Run(const std::stop_token& stop, const std::stop_token& abort) {
  const std::stop_callback forward(abort, [this] { abort_.request_stop(); });
  if (Status ready = SetUp(stop); !ready.ok()) {
    // Asked to stop while it waited to begin: nothing was taken.
    const bool waited = ready.error().retry() == RetryHint::kYes;
    return waited && stop.stop_requested() ? Ok() : ready;
  }
  Status ended = Loop(stop, abort);
  // What is in flight when something else fails is as good as before: it may land.
  if (!ended.ok() && ended.error().kind() != ErrorKind::kCancelled) Ignore(flow_->Await(kRevokeBoundMs));
  return ended.ok() ? flow_->tables().Failed() : std::move(ended);
}

Status Controller::SetUp(const std::stop_token& stop) {
  const Patience patience = ToBegin(stop);
  FIRN_ASSIGN(auto router, route::Router::Make(RouteRules(config_)));
  io_ = std::make_unique<runtime::Executor>("io", static_cast<size_t>(deps_.lanes), *deps_.threads);
  committers_ =
      std::make_unique<runtime::Executor>("commit", router->sole() ? 1 : kCommitters, *deps_.threads);
  services_ =
      std::make_unique<TableServices>(TableServices{config_, deps_, options_, status_, metrics_, control_,
                                                    *io_, *committers_, abort_.get_token(), router->sole()});
  flow_ = std::make_unique<BatchFlow>(*services_, book_, router, view_);
  if (router->sole()) {
    const auto only = book_.Find(std::get<route::RoutedTo>(*router->ForTopic("")->constant()));
    const auto infer = [&] { return InferColumnsAndTell(stop); };
    FIRN_TRY(CallPatiently(patience, [&] { return flow_->OpenSole(std::get<TargetPtr>(only), infer); }));
  }
  FIRN_TRY(OpenSource(patience));
  FIRN_TRY(flow_->Start(*source_));
  return CallPatiently(patience, [&] { return source_->Subscribe(bounded()); });
}

Status Controller::OpenSource(const Patience& patience) {
  return CallPatiently(patience, [&]() -> Status {
    source_.reset();  // a source is opened once
    FIRN_ASSIGN(source_, deps_.make_source(deps_.lanes));
    return source_->Open();
  });
}

// The catalog may go away between its opening and this; the source has not been asked before.
Patience Controller::ToBegin(const std::stop_token& stop) {
  const int64_t end_ns = clock_.MonotonicNs() + kMaxStartWaitMs * kNsPerMs;
  return [this, stop, end_ns](const Error& error) {
    if (!WaitingMayHelp(error) || clock_.MonotonicNs() > end_ns) return false;
    view_.WaitsToBegin(error);
    return clock_.SleepUnlessStopped(kPauseMs, stop) && !abort_.stop_requested();
  };
}

// A schema registry may be away: the records wait for it.
Result<iceberg::SchemaPtr> Controller::InferColumnsAndTell(const std::stop_token& stop) {
  int tries = 0;
  const auto patience = [&](const Error& error) {
    if (++tries > 1) view_.Trouble(error);
    return clock_.SleepUnlessStopped(kPauseMs, stop) && !abort_.stop_requested();
  };
  FIRN_ASSIGN(decode::InferredSchema inferred, InferFromSource(deps_, patience));
  for (const std::string& note : inferred.notes)
    obs::Log(obs::Level::kWarning, "inferred columns: " + note, {{"pipeline", config_.id}});
  return inferred.schema;
}

Status Controller::Loop(const std::stop_token& stop, const std::stop_token& abort) {
  status_.Write([](PipelineStatus& s) {
    s.state = PipelineState::kRunning;
    s.reason.clear();
  });
  for (;;) {
    if (abort.stop_requested())
      return Error(ErrorKind::kCancelled, "stopped at once; what was in flight is read again");
    FIRN_ASSIGN(auto events, source_->PollControl(kControlPollMs));
    for (const source::SourceEvent& event : events) FIRN_TRY(Handle(event));
    FIRN_TRY(Turn());
    if (stop.stop_requested()) return Flush();
    if (bounded() && CaughtUp()) {
      FIRN_TRY(Flush());
      if (!flow_->refused()) return Ok();
      FIRN_TRY(ServeRefusal());
    }
  }
}

Status Controller::Turn() {
  FIRN_TRY(flow_->ServeLanes());
  FIRN_TRY(flow_->PollTables());
  FIRN_TRY(ServeRefusal());
  FIRN_TRY(flow_->ServeOwnReads());
  FIRN_TRY(RefreshLag());
  view_.Show(flow_->Counters());
  FIRN_TRY(flow_->CutDue());
  FIRN_TRY(flow_->ServeBound());
  flow_->ServePressure();
  return Ok();
}

bool Controller::CaughtUp() const {
  if (!goal_.settled()) return false;
  const auto positions = flow_->ReadPositions();  // before it is asked who waits: see Lane::Dispatch
  return flow_->Settled() && goal_.ReachedBy(positions);
}

// The clean end: what was filled is committed, within the shutdown limit.
Status Controller::Flush() {
  const int64_t limit_ms = bounded() ? INT64_MAX / kNsPerMs / 2 : options_.shutdown_timeout_ms;
  const int64_t end_ns = clock_.MonotonicNs() + limit_ms * kNsPerMs;
  const auto left_ms = [&] { return std::max<int64_t>(0, (end_ns - clock_.MonotonicNs()) / kNsPerMs); };
  FIRN_TRY(flow_->CutOwnReads(/*pause=*/true));
  FIRN_TRY(flow_->Cut({.all = true, .targets = {}, .pause = true}));
  FIRN_TRY(flow_->Await(left_ms()));
  if (flow_->refused()) {
    flow_->DiscardCarry();  // read again at the next start, or by the loop
  } else if (!flow_->AnyInFlight()) {
    FIRN_TRY(flow_->SubmitAll());
    FIRN_TRY(flow_->Await(left_ms()));
  }
  if (flow_->AnyInFlight()) {
    abort_.request_stop();
    return Error(
        ErrorKind::kCancelled,
        fmt::format("the last batch was not committed within {} ms; it is read again at the next start",
                    limit_ms));
  }
  view_.Show(flow_->Counters());
  return StoreBound(std::min(left_ms(), commit::kRetryLimitMs));
}

// Every batch is committed by now; the bound only spares the next start some reading. Its catalog has until
// the limit to come back, as that of the batches.
Status Controller::StoreBound(int64_t limit_ms) {
  const int64_t end_ns = clock_.MonotonicNs() + limit_ms * kNsPerMs;
  const Patience patience = [&](const Error& error) {
    view_.Trouble(error);
    return clock_.MonotonicNs() < end_ns && clock_.SleepUnlessStopped(kPauseMs, abort_.get_token());
  };
  Status stored = CallPatiently(patience, [&] { return flow_->StoreBound(); });
  if (stored.ok() || stored.error().retry() == RetryHint::kNo) return stored;
  return Error(ErrorKind::kCancelled,
               fmt::format("all records are committed, but not how far they were read, "
                           "so that the next start reads some again: {}",
                           stored.error().message()));
}

// --- source

Status Controller::Handle(const source::SourceEvent& event) {
  if (const auto* assigned = std::get_if<source::PartitionsAssigned>(&event))
    return OnAssigned(assigned->partitions);
  if (const auto* revoked = std::get_if<source::PartitionsRevoked>(&event)) return OnRevoked(*revoked);
  if (std::holds_alternative<source::SourceRecovered>(event)) {
    view_.TroubleOver();
    return Ok();
  }
  if (const auto* ended = std::get_if<source::PartitionEnded>(&event)) {
    goal_.Ended(ended->partition, ended->end);
    return Ok();
  }
  return OnTrouble(std::get<source::SourceTrouble>(event));
}

// The log can be trimmed past our position while we read: then `on_data_loss` decides as at a start.
Status Controller::OnTrouble(const source::SourceTrouble& trouble) {
  metrics_.SourceTroubled();
  if (trouble.error.retry() == RetryHint::kYes) {
    view_.Trouble(trouble.error);
    return Ok();
  }
  const bool trimmed = trouble.error.kind() == ErrorKind::kDataLoss && trouble.partition &&
                       flow_->started().contains(*trouble.partition);
  // What was read before the damage is good, and would be read again and again.
  if (trouble.error.kind() == ErrorKind::kCorrupt && trouble.partition) FIRN_TRY(Flush());
  if (!trimmed || config_.on_data_loss == OnDataLoss::kFail) return trouble.error;
  obs::Log(obs::Level::kWarning, "records are gone; going on with the first that is left",
           {{"pipeline", config_.id}, {"error", trouble.error}});
  FIRN_TRY(flow_->DiscardFilling());
  return Resync();
}

Status Controller::OnAssigned(const std::vector<SourcePartition>& partitions) {
  if (!partitions.empty()) {
    // The positions in the tables are only final when nothing is in flight.
    FIRN_TRY(flow_->Await(kRevokeBoundMs, /*all=*/true));
    FIRN_ASSIGN(auto positions, PlanReading(partitions));
    refusals_ = 0;
    metrics_.Rebalanced();
    if (bounded() && !goal_.settled()) FIRN_TRY(AimAtEnds());
    // Lanes stand still: none may get records of these partitions before it knows which of them tables have.
    FIRN_TRY(flow_->Cut({.all = false, .targets = {}, .pause = true}));
    FIRN_TRY(source_->Start(positions));
  }
  goal_.Settle();
  flow_->Resume(/*drop_waiting=*/false);
  return Ok();
}

Status Controller::AimAtEnds() {
  FIRN_ASSIGN(auto bounds, source_->ListPartitions());
  if (const auto total = goal_.Aim(bounds, flow_->started()))
    status_.Write([&](PipelineStatus& s) { s.total_records_target = *total; });
  return Ok();
}

// Where the tables and the log say that these partitions go on. The flow reads on from there.
Result<record::Positions> Controller::PlanReading(const std::vector<SourcePartition>& partitions) {
  const StartContext context{source_.get(), nullptr, &config_, &options_, {}};
  FIRN_ASSIGN(StartPlan plan,
              services_->sole ? PlanForOne(context, partitions) : PlanForMany(context, partitions));
  FIRN_TRY(flow_->Refresh(UntilAborted()));
  flow_->StartAt(plan.positions);
  obs::Log(obs::Level::kInfo, "partitions assigned",
           {{"pipeline", config_.id}, {"partitions", partitions.size()}, {"start", plan.how}});
  return std::move(plan.positions);
}

Result<StartPlan> Controller::PlanForOne(StartContext context,
                                         const std::vector<SourcePartition>& partitions) {
  TableRun& table = flow_->tables().Sole();
  context.catalog = deps_.catalogs.at(config_.tables.front().name.catalog).get();
  context.commit_start = [&](const record::Positions& start) {
    return committers_->Async([&] { return table.committer().CommitStart(start, abort_.get_token()); }).Get();
  };
  FIRN_ASSIGN(StartPlan plan, CallPatiently(UntilAborted(), [&] { return PlanStart(context, partitions); }));
  table.set_epoch(plan.epoch);
  return plan;
}

Result<StartPlan> Controller::PlanForMany(const StartContext& context,
                                          const std::vector<SourcePartition>& partitions) {
  FIRN_ASSIGN(SharedStart start, CallPatiently(UntilAborted(), [&] {
                return PlanSharedStart(context, control_, partitions, abort_.get_token());
              }));
  flow_->AdoptControl(start.control, partitions);
  return std::move(start.plan);
}

Patience Controller::UntilAborted() {
  return [this](const Error& error) {
    if (abort_.stop_requested()) return false;
    view_.Trouble(error);
    clock_.SleepMs(kPauseMs);
    return true;
  };
}

// Lanes pause; what holds rows of the revoked partitions is committed or discarded; then the partitions are
// given up.
Status Controller::OnRevoked(const source::PartitionsRevoked& revoked) {
  FIRN_TRY(flow_->Cut({.all = true, .targets = {}, .pause = true}));
  const std::vector<TableRun*> touched = flow_->tables().Touching(revoked.partitions);
  if (!revoked.lost && !flow_->read_is_ahead() && !touched.empty()) {
    FIRN_TRY(flow_->Await(kRevokeBoundMs));
    FIRN_TRY(flow_->SubmitAll());
    FIRN_TRY(flow_->Await(kRevokeBoundMs));
  }
  // A batch in flight beyond the bound may still land: then the fence tells the next owner.
  const bool discarded = flow_->read_is_ahead() || std::ranges::any_of(touched, [](const TableRun* table) {
                           return table->in_flight() || !table->carry().taken.empty();
                         });
  metrics_.Rebalanced();
  obs::Log(obs::Level::kInfo, "partitions revoked",
           {{"pipeline", config_.id},
            {"partitions", revoked.partitions.size()},
            {"lost", revoked.lost},
            {"discarded", discarded}});
  flow_->Forget(revoked.partitions);
  FIRN_TRY(source_->Release(revoked.partitions));
  flow_->DropWaiting(revoked.partitions);
  if (discarded) {
    FIRN_TRY(flow_->DiscardFilling());
    return Resync();
  }
  flow_->Resume(/*drop_waiting=*/false);
  return Ok();
}

// Lanes are paused and nothing is filled. Everything that is still ours is read again.
Status Controller::Resync() {
  while (flow_->AnyInFlight()) {
    if (abort_.stop_requested()) return Error(ErrorKind::kCancelled, "stopped at once");
    FIRN_TRY(flow_->Await(kRevokeBoundMs));
  }
  FIRN_TRY(flow_->Await(kRevokeBoundMs, /*all=*/true));
  flow_->TakeRefusal();  // whatever was refused in the meantime is read again now
  flow_->GiveUpOwnReads();
  std::vector<SourcePartition> partitions;
  for (const auto& [partition, position] : flow_->started()) partitions.push_back(partition);
  if (!partitions.empty()) {
    FIRN_ASSIGN(auto positions, PlanReading(partitions));
    FIRN_TRY(source_->Seek(positions));
  }
  flow_->Resume(/*drop_waiting=*/true);
  return Ok();
}

Status Controller::ServeRefusal() {
  const std::optional<commit::Rejected> refusal = flow_->TakeRefusal();
  if (!refusal) return Ok();
  if (refusal->fence) return ReadAgainFrom(*refusal->fence);
  obs::Log(obs::Level::kWarning, "a table was altered while it was filled; the records are read again",
           {{"pipeline", config_.id}, {"why", refusal->error.message()}});
  FIRN_TRY(flow_->DiscardFilling());
  return Resync();
}

// Another process moved a partition that we hold: after a rebalance that we have not seen yet, or because two
// run the same pipeline without a group. Read again from the tables; twice on a partition that is still ours
// is too often.
Status Controller::ReadAgainFrom(const commit::FenceMismatch& fence) {
  obs::Log(obs::Level::kWarning, "another process moved a partition; reading again from the table",
           {{"pipeline", config_.id}, {"partition", fence.ToString()}});
  const int64_t until_ns = clock_.MonotonicNs() + kRefusedGraceMs * kNsPerMs;
  FIRN_TRY(flow_->DiscardFilling());
  while (clock_.MonotonicNs() < until_ns && !abort_.stop_requested()) {
    FIRN_ASSIGN(auto events, source_->PollControl(kControlPollMs));
    for (const source::SourceEvent& event : events) FIRN_TRY(Handle(event));
  }
  FIRN_TRY(flow_->DiscardFilling());  // an assignment in between lets the lanes go on
  if (flow_->started().contains(fence.partition) && ++refusals_ >= kRefusedLimit) {
    return Error(
               ErrorKind::kDataLoss,
               fmt::format("another process keeps committing records of a partition that this one holds: {}",
                           fence.ToString()))
        .WithRemedy("Run the pipeline's processes in one consumer group, or only one of them.");
  }
  return Resync();
}

// --- what people see

Status Controller::RefreshLag() {
  const int64_t now_ns = clock_.MonotonicNs();
  if (now_ns < next_lag_ns_ || flow_->started().empty()) return Ok();
  next_lag_ns_ = now_ns + kLagEveryMs * kNsPerMs;
  const int64_t now_ms = clock_.NowMs();
  auto bounds = source_->ListPartitions();
  if (!bounds.ok()) {
    if (bounds.error().retry() == RetryHint::kYes)
      return Handle(source::SourceTrouble{std::move(bounds).error(), std::nullopt});
    return std::move(bounds).error();
  }
  flow_->Observe(now_ms, *bounds);
  const auto committed = flow_->CommittedPositions();
  view_.Lag(*bounds, committed);
  view_.ValidThrough(flow_->ValidThrough(committed));
  view_.Backlog(source_->backlog());
  return Ok();
}

}  // namespace firn::pipeline
