#include "firn/pipeline/controller.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "firn/commit/protocol/resume.h"
#include "firn/pipeline/sample.h"
#include "firn/pipeline/table_definition.h"
#include "firn/pipeline/table_setup.h"
#include "firn/runtime/fault_point.h"

namespace firn::pipeline {

namespace {

using record::SourcePartition;

constexpr int kControlPollMs = 10;
constexpr int64_t kLagEveryMs = 2'000;
constexpr int64_t kRevokeBoundMs = 60'000;
constexpr int64_t kTroubleShowsMs = 10'000;
constexpr int64_t kRefusedGraceMs = 3'000;
constexpr int kRefusedLimit = 2;
constexpr double kFlushPressure = 0.7;
constexpr size_t kMaxObservations = 64;
constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kMinBufferedBytes = int64_t{8} << 20;
// Of the memory limit, what the rows of all writers may take: two batches (one commits, one fills) in every
// lane.
constexpr int64_t kBufferShare = 4;
// With many tables most have few rows: an open Parquet file costs more than they do.
constexpr int64_t kOpenFileFromBytes = int64_t{1} << 20;
constexpr size_t kCommitters = 8;
constexpr int64_t kStoreEveryMs = 60'000;
constexpr size_t kOwnReads = 2;
constexpr size_t kNamedFailures = 5;
constexpr int64_t kSampleRecords = 10'000;
constexpr int64_t kSampleWaitMs = 10'000;
// A cut is cheap but not free: tables that are nearly due come along.
constexpr double kNearlyDue = 0.8;

Status AfterGroupOffsets() {
  FIRN_FAULT_POINT(group_offsets_after_commit);
  return Ok();
}

int Gravity(const Error& error) {
  if (error.kind() == ErrorKind::kDataLoss) return 3;
  const bool input = error.kind() == ErrorKind::kInvalidArgument || error.kind() == ErrorKind::kNotFound ||
                     error.kind() == ErrorKind::kUnsupported;
  return input && error.domain() == ErrorDomain::kUser ? 2 : 1;
}

}  // namespace

Controller::Controller(const PipelineConfig& config, PipelineDeps& deps, const RunOptions& options,
                       StatusBoard& status)
    : config_(config),
      deps_(deps),
      options_(options),
      status_(status),
      clock_(*deps.clock),
      metrics_(*deps.metrics, config.id),
      book_(config),
      control_(DeadLetterSink(deps.dead_letter_catalog, config.dead_letters, config.id, *deps.clock,
                              *deps.ids, deps.pool)) {}

Controller::~Controller() {
  abort_.request_stop();
  for (auto& lane : lanes_) lane->Stop();
  for (auto& [id, own] : own_reads_) {
    if (own.connecting) own.connecting->wait();
  }
  own_reads_.clear();
  if (storing_) storing_->wait();
  tables_.clear();
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
  if (!ended.ok() && ended.error().kind() != ErrorKind::kCancelled) Ignore(AwaitTables(kRevokeBoundMs));
  return ended.ok() ? FailedTables() : std::move(ended);
}

Status Controller::SetUp(const std::stop_token& stop) {
  FIRN_ASSIGN(router_, route::Router::Make(RouteRules(config_)));
  io_ = std::make_unique<runtime::Executor>("io", static_cast<size_t>(deps_.lanes));
  committers_ = std::make_unique<runtime::Executor>("commit", router_->sole() ? 1 : kCommitters);
  services_ =
      std::make_unique<TableServices>(TableServices{config_, deps_, options_, status_, metrics_, control_,
                                                    *io_, *committers_, abort_.get_token(), router_->sole()});
  TargetPtr only;
  if (router_->sole()) {
    only = std::get<TargetPtr>(book_.Find(std::get<route::RoutedTo>(*router_->ForTopic("")->constant())));
    FIRN_TRY(TableOf(only).OpenNow([&] { return InferColumnsAndTell(stop); }));
  }
  TableOf(book_.unrouted());
  FIRN_ASSIGN(source_, deps_.make_source(deps_.lanes));
  FIRN_TRY(source_->Open());
  FIRN_TRY(MakeLanes());
  if (only != nullptr) OfferToAll(TableOf(only));
  return source_->Subscribe(bounded());
}

// A schema registry may be away: the records wait for it.
Result<iceberg::SchemaPtr> Controller::InferColumnsAndTell(const std::stop_token& stop) {
  int tries = 0;
  const auto patience = [&](const Error& error) {
    if (++tries > 1) ShowTrouble(error);
    return clock_.SleepUnlessStopped(kPersistPauseMs, stop) && !abort_.stop_requested();
  };
  FIRN_ASSIGN(decode::InferredSchema inferred, InferFromSource(deps_, patience));
  for (const std::string& note : inferred.notes)
    obs::Log(obs::Level::kWarning, "inferred columns: " + note, {{"pipeline", config_.id}});
  return inferred.schema;
}

Status Controller::MakeLanes() {
  ledger_ = std::make_unique<ReadLedger>(static_cast<size_t>(deps_.lanes));
  for (int i = 0; i < deps_.lanes; ++i) {
    FIRN_ASSIGN(auto sorter, MakeSorter());
    lanes_.push_back(std::make_unique<Lane>(LaneSettings(i), *source_, deps_.make_decoder, std::move(sorter),
                                            book_.unrouted()));
    lanes_.back()->Start();
  }
  return Ok();
}

Result<Sorter> Controller::MakeSorter() {
  std::unique_ptr<decode::KeyReader> keys;
  if (!router_->fields().empty()) {
    if (!deps_.make_key_reader) {
      return Error(
          ErrorKind::kUnsupported,
          fmt::format("{} records cannot be told apart by a field before they are decoded", config_.format));
    }
    FIRN_ASSIGN(keys, deps_.make_key_reader(router_->fields()));
  }
  return Sorter(router_, book_, std::move(keys));
}

LaneConfig Controller::LaneSettings(int index) const {
  LaneConfig lane;
  lane.index = lane.source_index = index;
  lane.on_bad_record = config_.on_bad_record;
  lane.tombstones = config_.tombstones;
  lane.max_buffered_bytes =
      std::max(deps_.memory->limit_bytes() / kBufferShare / (2 * deps_.lanes), kMinBufferedBytes);
  lane.open_file_from_bytes = router_->sole() ? 0 : kOpenFileFromBytes;
  lane.pool = deps_.pool;
  lane.ids = deps_.ids;
  for (const TableConfig& rule : config_.tables) lane.infers.push_back(rule.columns.empty());
  lane.fails_whole = router_->sole();
  return lane;
}

Status Controller::Loop(const std::stop_token& stop, const std::stop_token& abort) {
  status_.Write([](PipelineStatus& s) { s.state = PipelineState::kRunning; });
  for (;;) {
    if (abort.stop_requested())
      return Error(ErrorKind::kCancelled, "stopped at once; what was in flight is read again");
    FIRN_ASSIGN(auto events, source_->PollControl(kControlPollMs));
    for (const source::SourceEvent& event : events) FIRN_TRY(Handle(event));
    FIRN_TRY(Turn());
    if (stop.stop_requested()) return Flush();
    if (bounded() && CaughtUp()) {
      FIRN_TRY(Flush());
      if (!refused_by_) return Ok();
      FIRN_TRY(ServeRefusal());
    }
  }
}

Status Controller::Turn() {
  FIRN_TRY(ServeLanes());
  FIRN_TRY(PollTables());
  FIRN_TRY(ServeRefusal());
  FIRN_TRY(ServeCatchUps());
  FIRN_TRY(RefreshLag());
  PublishCounters();
  FIRN_TRY(CutDue());
  FIRN_TRY(ServeComplete());
  const bool over = deps_.memory->pressure() >= kFlushPressure ||
                    (services_->sole && std::ranges::any_of(tables_, [](const auto& entry) {
                       return entry.second->OverLimits();
                     }));
  const bool hold = over && AnyInFlight();
  if (hold != held_) {
    held_ = hold;
    for (auto& lane : lanes_) lane->Hold(hold);
  }
  return Ok();
}

// --- source

Status Controller::Handle(const source::SourceEvent& event) {
  if (const auto* assigned = std::get_if<source::PartitionsAssigned>(&event))
    return OnAssigned(assigned->partitions);
  if (const auto* revoked = std::get_if<source::PartitionsRevoked>(&event)) return OnRevoked(*revoked);
  if (std::holds_alternative<source::SourceRecovered>(event)) {
    trouble_until_ns_ = 0;
    return Ok();
  }
  if (const auto* ended = std::get_if<source::PartitionEnded>(&event)) {
    targets_[ended->partition] = ended->end;
    return Ok();
  }
  return OnTrouble(std::get<source::SourceTrouble>(event));
}

// The log can be trimmed past our position while we read: then `on_data_loss` decides as at a start.
Status Controller::OnTrouble(const source::SourceTrouble& trouble) {
  metrics_.SourceTroubled();
  if (trouble.error.retry() == RetryHint::kYes) {
    ShowTrouble(trouble.error);
    return Ok();
  }
  const bool trimmed = trouble.error.kind() == ErrorKind::kDataLoss && trouble.partition &&
                       started_.contains(*trouble.partition);
  if (!trimmed || config_.on_data_loss == OnDataLoss::kFail) return trouble.error;
  obs::Log(obs::Level::kWarning, "records are gone; going on with the first that is left",
           {{"pipeline", config_.id}, {"error", trouble.error}});
  FIRN_TRY(DiscardFilling());
  return Resync();
}

void Controller::ShowTrouble(const Error& error) {
  trouble_log_.Log(obs::Level::kWarning, "trouble, trying again",
                   {{"pipeline", config_.id}, {"error", error}});
  trouble_until_ns_ = clock_.MonotonicNs() + kTroubleShowsMs * kNsPerMs;
  status_.Write([&](PipelineStatus& s) {
    s.state = PipelineState::kDegraded;
    s.reason = error.ToString();
  });
}

Status Controller::OnAssigned(const std::vector<SourcePartition>& partitions) {
  if (!partitions.empty()) {
    // The positions in the tables are only final when nothing is in flight.
    FIRN_TRY(AwaitTables(kRevokeBoundMs, /*all=*/true));
    record::Positions positions;
    FIRN_TRY(PlanReading(partitions, &positions));
    refusals_ = 0;
    metrics_.Rebalanced();
    for (const auto& [partition, position] : positions) started_[partition] = position;
    if (bounded() && !targets_known_) {
      FIRN_ASSIGN(auto all, source_->ListPartitions());
      AimAtEnds(all);
    }
    // Lanes stand still: none may get records of these partitions before it knows which of them tables have.
    FIRN_TRY(Cut({.all = false, .targets = {}, .pause = true}));
    FIRN_TRY(source_->Start(positions));
  }
  targets_known_ = true;
  ResumeLanes(/*drop_waiting=*/false);
  return Ok();
}

// How far a bounded run reads.
void Controller::AimAtEnds(const std::map<SourcePartition, source::PartitionBounds>& bounds) {
  int64_t total = 0;
  for (const auto& [partition, bound] : bounds) {
    if (!bound.end) {
      endless_.insert(partition);
      continue;
    }
    auto start = started_.find(partition);
    const int64_t from = start == started_.end() ? bound.first : start->second.next;
    if (*bound.end > from) targets_[partition] = *bound.end;
    total += std::max<int64_t>(0, *bound.end - from);
  }
  if (endless_.empty()) status_.Write([&](PipelineStatus& s) { s.total_records_target = total; });
}

// Where the tables and the log say that these partitions go on.
Status Controller::PlanReading(const std::vector<SourcePartition>& partitions, record::Positions* positions) {
  StartContext context{source_.get(), nullptr, &config_, &options_, {}};
  StartPlan plan;
  if (services_->sole) {
    TableRun& table = *std::ranges::find_if(tables_, [](const auto& entry) {
                         return !entry.second->target()->name.empty();
                       })->second;
    context.catalog = deps_.catalogs.at(config_.tables.front().name.catalog).get();
    context.commit_start = [&](const record::Positions& start) {
      return committers_->Async([&] { return table.committer().CommitStart(start, abort_.get_token()); })
          .get();
    };
    FIRN_ASSIGN(plan, Persist<StartPlan>([&] { return PlanStart(context, partitions); }));
    table.set_epoch(plan.epoch);
  } else {
    FIRN_ASSIGN(auto start, Persist<SharedStart>([&] {
                  return PlanSharedStart(context, control_, partitions, abort_.get_token());
                }));
    plan = std::move(start.plan);
    FIRN_TRY(AdoptControl(start.control, partitions));
  }
  FIRN_TRY(RefreshTables());
  ledger_->Start(plan.positions);
  for (auto& [id, table] : tables_) OfferToAll(*table);
  obs::Log(obs::Level::kInfo, "partitions assigned",
           {{"pipeline", config_.id}, {"partitions", partitions.size()}, {"start", plan.how}});
  *positions = std::move(plan.positions);
  return Ok();
}

// What the control table knows: tables that were made, and those that are behind in partitions that are now
// ours.
Status Controller::AdoptControl(const ControlTable::State& control,
                                const std::vector<SourcePartition>& partitions) {
  stored_ = control.complete.value_or(commit::Complete{});
  control_uuid_ = control.uuid;
  for (const auto& [name, known] : stored_.tables) book_.Remember(name, known);
  for (const auto& [name, pending] : stored_.behind) {
    const auto known = stored_.tables.find(name);
    const TargetPtr target =
        book_.Remember(name, known == stored_.tables.end() ? commit::Complete::KnownTable{} : known->second);
    commit::PendingFrom ours;
    for (const SourcePartition& partition : partitions) {
      if (const auto it = pending.find(partition); it != pending.end()) ours.insert(*it);
    }
    if (ours.empty()) continue;
    if (target == nullptr) {
      strangers_behind_[name].insert(ours.begin(), ours.end());
      continue;
    }
    TableRun& table = TableOf(target);
    const bool fresh = !table.opened() && !table.busy() && !table.failed();
    table.SetBehind(ours);
    {
      const std::lock_guard lock(missing_mutex_);
      missing_of_[target->id] = ours;
    }
    if (fresh) {
      std::optional<commit::Complete::KnownTable> as_known;
      if (known != stored_.tables.end() && !known->second.uuid.empty()) as_known = known->second;
      table.Open([this, target] { return SampleOf(target); }, std::move(as_known),
                 partitions.empty() ? "" : stored_.bound.begin()->second.identity.cluster_id);
    }
  }
  return Ok();
}

// All tables at once: a catalog may answer slowly.
Status Controller::RefreshTables() {
  std::vector<std::pair<TableRun*, std::future<Result<iceberg::LoadedTable>>>> loads;
  for (auto& [id, table] : tables_) {
    if (table->view() != nullptr && !table->failed() && !table->busy())
      loads.emplace_back(table.get(), table->Load());
  }
  for (auto& [table, load] : loads) {
    Result<iceberg::LoadedTable> loaded = load.get();
    if (!loaded.ok() && loaded.error().retry() == RetryHint::kYes) {
      loaded = Persist<iceberg::LoadedTable>([&run = *table] { return run.Load().get(); });
    }
    Status refreshed = table->Refresh(std::move(loaded));
    if (!refreshed.ok()) FIRN_TRY(TableFailed(*table, std::move(refreshed).error()));
  }
  return Ok();
}

// Lanes pause; what holds rows of the revoked partitions is committed or discarded; then the partitions are
// given up.
Status Controller::OnRevoked(const source::PartitionsRevoked& revoked) {
  FIRN_TRY(Cut({.all = true, .targets = {}, .pause = true}));
  std::vector<TableRun*> touched;
  for (auto& [id, table] : tables_) {
    if (table->touches(revoked.partitions)) touched.push_back(table.get());
  }
  bool discarded = false;
  if (!revoked.lost && !touched.empty()) {
    FIRN_TRY(AwaitTables(kRevokeBoundMs));
    FIRN_TRY(SubmitAll());
    FIRN_TRY(AwaitTables(kRevokeBoundMs));
  }
  for (TableRun* table : touched) {
    // A batch in flight beyond the bound may still land: then the fence tells the next owner.
    discarded = discarded || table->in_flight() || !table->carry().taken.empty() || refused_by_.has_value();
  }
  metrics_.Rebalanced();
  obs::Log(obs::Level::kInfo, "partitions revoked",
           {{"pipeline", config_.id},
            {"partitions", revoked.partitions.size()},
            {"lost", revoked.lost},
            {"discarded", discarded}});
  for (const SourcePartition& partition : revoked.partitions) {
    started_.erase(partition);
    acknowledged_.erase(partition);
  }
  DropOwnReads([&](const OwnRead& own) {
    return std::ranges::any_of(revoked.partitions,
                               [&](const auto& partition) { return own.from.contains(partition); });
  });
  ledger_->Forget(revoked.partitions);
  FIRN_TRY(source_->Release(revoked.partitions));
  for (auto& lane : lanes_) lane->Forget(revoked.partitions);
  if (discarded) {
    FIRN_TRY(DiscardFilling());
    return Resync();
  }
  ResumeLanes(/*drop_waiting=*/false);
  return Ok();
}

// Lanes are paused and nothing is filled. Everything that is still ours is read again.
Status Controller::Resync() {
  while (AnyInFlight()) {
    if (abort_.stop_requested()) return Error(ErrorKind::kCancelled, "stopped at once");
    FIRN_TRY(AwaitTables(kRevokeBoundMs));
  }
  FIRN_TRY(AwaitTables(kRevokeBoundMs, /*all=*/true));
  refused_by_.reset();  // whatever was refused in the meantime is read again now
  DropOwnReads([](const OwnRead&) { return true; });
  std::vector<SourcePartition> partitions;
  for (const auto& [partition, position] : started_) partitions.push_back(partition);
  if (!partitions.empty()) {
    record::Positions positions;
    FIRN_TRY(PlanReading(partitions, &positions));
    started_ = std::move(positions);
    FIRN_TRY(source_->Seek(started_));
  }
  ResumeLanes(/*drop_waiting=*/true);
  return Ok();
}

void Controller::ResumeLanes(bool drop_waiting) {
  for (auto& lane : lanes_) lane->Resume(drop_waiting);
}

// --- tables

TableRun& Controller::TableOf(const TargetPtr& target) {
  std::unique_ptr<TableRun>& table = tables_[target->id];
  if (table == nullptr) table = std::make_unique<TableRun>(target, *services_);
  return *table;
}

Status Controller::ServeLanes() {
  for (auto& lane : lanes_) {
    if (auto error = lane->error()) return *std::move(error);
    for (const TableRequest& request : lane->TakeRequests()) FIRN_TRY(ServeRequest(request));
  }
  return Ok();
}

Status Controller::ServeRequest(const TableRequest& request) {
  TableRun& table = TableOf(request.target);
  switch (request.kind) {
    case TableRequest::Kind::kOpen: {
      if (table.opened() || table.failed()) {
        OfferToAll(table);
      } else if (!table.opening()) {
        std::optional<commit::Complete::KnownTable> known;
        const auto stored = stored_.tables.find(request.target->name);
        if (stored != stored_.tables.end() && !stored->second.uuid.empty()) known = stored->second;
        table.Open([sample = request.sample]() -> Result<Records> { return sample; }, std::move(known),
                   started_.empty() ? "" : started_.begin()->second.identity.cluster_id);
      }
      return Ok();
    }
    case TableRequest::Kind::kChange:
      if (!table.failed() && table.Want(request)) OfferToAll(table);
      return Ok();
    case TableRequest::Kind::kTrouble:
      table.ShowTrouble(*request.error);
      if (services_->sole) ShowTrouble(*request.error);
      return Ok();
    case TableRequest::Kind::kFailed:
      return table.failed() ? Ok() : TableFailed(table, *request.error);
  }
  return Ok();
}

// On the pool, of a table that could not be made in an earlier run: from where its records are missing.
Result<Controller::Records> Controller::SampleOf(const TargetPtr& target) {
  record::Positions from;
  {
    const std::lock_guard lock(missing_mutex_);
    for (const auto& [partition, next] : missing_of_[target->id]) from[partition] = {next, {}, std::nullopt};
  }
  FIRN_ASSIGN(auto source, CatchUp::Subscribe(deps_, from));
  FIRN_ASSIGN(auto read, ReadSample(*source, from, kSampleRecords, kSampleWaitMs));
  source->Close();
  FIRN_ASSIGN(auto sorter, MakeSorter());
  auto sample = std::make_shared<std::vector<record::RawBatch>>();
  for (record::RawBatch& raw : read) {
    Sorted sorted = sorter.Sort(std::move(raw));
    for (SortedRecords& part : sorted.parts) {
      if (part.target == target) sample->push_back(std::move(part.raw));
    }
  }
  return Records(std::move(sample));
}

void Controller::OfferToAll(TableRun& table) {
  if (table.target()->name.empty() || (!table.opened() && !table.failed())) return;
  for (auto& lane : lanes_) lane->Offer(table.target()->id, table.Offer());
  const auto own = own_reads_.find(table.target()->id);
  if (own != own_reads_.end() && own->second.read != nullptr)
    own->second.read->Offer(table.target(), {table.Offer().view, nullptr});
}

Status Controller::PollTables() {
  for (auto& [id, table] : tables_) FIRN_TRY(Heed(*table, table->Poll()));
  return Ok();
}

Status Controller::Heed(TableRun& table, Result<TableNews> news) {
  if (!news.ok()) return table.failed() ? Ok() : TableFailed(table, std::move(news).error());
  if (news->fatal) return *std::move(news->fatal);
  if (news->refused) refused_by_ = std::move(news->refused);
  if (news->opened) worth_storing_ = true;
  if (news->view_changed) OfferToAll(table);
  if (!news->committed) return Ok();
  worth_storing_ = true;
  if (news->valid_through_ms > 0) {
    valid_through_ms_ = std::max(valid_through_ms_, news->valid_through_ms);
    if (services_->sole)
      std::erase_if(observed_, [&](const auto& seen) { return seen.time_ms <= news->valid_through_ms; });
    metrics_.ValidThrough(valid_through_ms_);
  }
  Acknowledge();
  return AfterGroupOffsets();
}

// The table leaves the shared read; the others go on. Where nothing else can come, the run ends.
Status Controller::TableFailed(TableRun& table, Error error) {
  const bool last =
      std::ranges::all_of(config_.tables, [](const TableConfig& rule) { return rule.name.literal(); }) &&
      failed_tables_ + 1 >= config_.tables.size();
  if (services_->sole || table.target()->name.empty()) return error;
  table.Fail(error);
  ++failed_tables_;
  own_reads_.erase(table.target()->id);
  OfferToAll(table);
  worth_storing_ = true;
  if (options_.fail_fast || last) return std::move(error).WithContext("table " + table.target()->name);
  return Ok();
}

std::string Controller::FailureText() const {
  std::string text = fmt::format("{} of {} tables failed", failed_tables_, tables_.size() - 1);
  size_t named = 0;
  for (const auto& [id, table] : tables_) {
    if (!table->failed()) continue;
    if (named++ == kNamedFailures) return text + "; ...";
    text +=
        fmt::format("{} {}: {}", named == 1 ? ":" : ";", table->target()->name, table->failed()->ToString());
  }
  return text;
}

Status Controller::FailedTables() const {
  const Error* gravest = nullptr;
  for (const auto& [id, table] : tables_) {
    if (table->failed() && (gravest == nullptr || Gravity(*table->failed()) > Gravity(*gravest)))
      gravest = &*table->failed();
  }
  if (gravest == nullptr) return Ok();
  Error error = *gravest;
  return failed_tables_ == 1 ? error : Error(error).WithContext(FailureText());
}

// Another process moved a partition that we hold: after a rebalance that we have not seen yet, or because two
// run the same pipeline without a group. Read again from the tables; twice on a partition that is still ours
// is too often.
Status Controller::ServeRefusal() {
  if (!refused_by_) return Ok();
  const commit::FenceMismatch fence = *std::exchange(refused_by_, std::nullopt);
  obs::Log(obs::Level::kWarning, "another process moved a partition; reading again from the table",
           {{"pipeline", config_.id}, {"partition", fence.ToString()}});
  const int64_t until_ns = clock_.MonotonicNs() + kRefusedGraceMs * kNsPerMs;
  FIRN_TRY(DiscardFilling());
  while (clock_.MonotonicNs() < until_ns && !abort_.stop_requested()) {
    FIRN_ASSIGN(auto events, source_->PollControl(kControlPollMs));
    for (const source::SourceEvent& event : events) FIRN_TRY(Handle(event));
  }
  FIRN_TRY(DiscardFilling());  // an assignment in between lets the lanes go on
  if (started_.contains(fence.partition) && ++refusals_ >= kRefusedLimit) {
    return Error(
               ErrorKind::kDataLoss,
               fmt::format("another process keeps committing records of a partition that this one holds: {}",
                           fence.ToString()))
        .WithRemedy("Run the pipeline's processes in one consumer group, or only one of them.");
  }
  return Resync();
}

// --- batches

Status Controller::Cut(const CutOrder& order) {
  for (auto& [id, table] : tables_) {
    if (order.all || order.targets.contains(id)) table->Cut();
  }
  for (auto& lane : lanes_) lane->RequestCut(order);
  std::vector<LaneCut> cuts;
  for (auto& lane : lanes_) cuts.push_back(lane->CollectCut());
  Status status = Ok();
  for (size_t i = 0; i < cuts.size(); ++i) {
    Status taken = ledger_->Take(i, cuts[i]);
    if (!taken.ok()) status = std::move(taken);
    for (const auto& [id, missing] : cuts[i].left_out) {
      if (const auto table = tables_.find(id); table != tables_.end()) {
        table->second->LeftOut(missing);
        worth_storing_ = true;
      }
    }
  }
  for (LaneCut& cut : cuts) {
    for (LaneCut::Part& part : cut.parts) {
      pipeline_records_ += part.part.records;
      Status taken = TableOf(part.target).Take(std::move(part.part), ledger_->read());
      if (!taken.ok()) status = std::move(taken);
    }
  }
  return status;
}

std::set<uint32_t> Controller::Due() {
  std::set<uint32_t> due;
  std::set<uint32_t> nearly;
  std::vector<TableRun*> idle;
  for (auto& [id, table] : tables_) {
    const int64_t age_ms = table->AgeMs();
    if (!table->filling() || table->busy() || table->failed()) continue;
    if (age_ms >= config_.commit.interval_ms || table->OverLimits()) {
      due.insert(id);
    } else if (static_cast<double>(age_ms) >= kNearlyDue * static_cast<double>(config_.commit.interval_ms)) {
      nearly.insert(id);
    }
    idle.push_back(table.get());
  }
  if (!due.empty()) due.merge(nearly);
  if (deps_.memory->pressure() < kFlushPressure) return due;
  // Memory runs short: the largest go first, half of all bytes.
  std::ranges::sort(
      idle, [](const TableRun* a, const TableRun* b) { return a->bytes_filling() > b->bytes_filling(); });
  int64_t left = 0;
  for (const TableRun* table : idle) left += table->bytes_filling();
  const int64_t keep = left / 2;
  for (const TableRun* table : idle) {
    if (left <= keep && !due.empty()) break;
    due.insert(table->target()->id);
    left -= table->bytes_filling();
  }
  return due;
}

Status Controller::CutDue() {
  std::set<uint32_t> due = Due();
  if (due.empty()) return Ok();
  for (auto& [id, own] : own_reads_) {
    if (own.read == nullptr || !due.contains(id)) continue;
    TableRun& table = *tables_.at(id);
    FIRN_ASSIGN(auto part, own.read->Cut(table.target(), /*pause=*/false));
    FIRN_TRY(table.Take(std::move(part), own.read->positions()));
  }
  FIRN_TRY(Cut({.all = false, .targets = std::move(due), .pause = false}));
  return SubmitAll();
}

Status Controller::SubmitAll() {
  const std::vector<commit::EndObservation> observed = Observed();
  for (auto& [id, table] : tables_) {
    const bool unrouted = table->target()->name.empty();
    const bool was_in_flight = table->in_flight();
    Status submitted = table->Submit(observed, pipeline_records_);
    if (!submitted.ok()) FIRN_TRY(TableFailed(*table, std::move(submitted).error()));
    if (unrouted && table->in_flight() && !was_in_flight) pipeline_records_ = 0;
  }
  return Ok();
}

bool Controller::AnyInFlight() const {
  return std::ranges::any_of(tables_, [](const auto& entry) { return entry.second->in_flight(); });
}

// Waits until nothing is in flight, at most `bound_ms`; with `all` until nothing is opened or changed either.
Status Controller::AwaitTables(int64_t bound_ms, bool all) {
  const int64_t end_ns = clock_.MonotonicNs() + bound_ms * kNsPerMs;
  for (;;) {
    FIRN_TRY(PollTables());
    const auto running = std::ranges::find_if(tables_, [all](const auto& entry) {
      return entry.second->in_flight() || (all && entry.second->busy());
    });
    if (running == tables_.end() || clock_.MonotonicNs() >= end_ns || abort_.stop_requested()) return Ok();
    running->second->WaitFor(kControlPollMs);
  }
}

Status Controller::DiscardFilling() {
  FIRN_TRY(Cut({.all = true, .targets = {}, .pause = true}));
  for (auto& [id, table] : tables_) table->DiscardCarry();
  return Ok();
}

// The clean end: what was filled is committed, within the shutdown limit.
Status Controller::Flush() {
  const int64_t limit_ms = bounded() ? INT64_MAX / kNsPerMs / 2 : options_.shutdown_timeout_ms;
  const int64_t end_ns = clock_.MonotonicNs() + limit_ms * kNsPerMs;
  const auto left_ms = [&] { return std::max<int64_t>(0, (end_ns - clock_.MonotonicNs()) / kNsPerMs); };
  for (auto& [id, own] : own_reads_) {
    if (own.read == nullptr) continue;
    TableRun& table = *tables_.at(id);
    FIRN_ASSIGN(auto part, own.read->Cut(table.target(), /*pause=*/true));
    FIRN_TRY(table.Take(std::move(part), own.read->positions()));
  }
  FIRN_TRY(Cut({.all = true, .targets = {}, .pause = true}));
  FIRN_TRY(AwaitTables(left_ms()));
  if (refused_by_) {
    for (auto& [id, table] : tables_) table->DiscardCarry();  // read again at the next start, or by the loop
  } else if (!AnyInFlight()) {
    FIRN_TRY(SubmitAll());
    FIRN_TRY(AwaitTables(left_ms()));
  }
  if (AnyInFlight()) {
    abort_.request_stop();
    return Error(
        ErrorKind::kCancelled,
        fmt::format("the last batch was not committed within {} ms; it is read again at the next start",
                    limit_ms));
  }
  PublishCounters();
  return services_->sole || refused_by_ ? Ok() : StoreComplete();
}

bool Controller::CaughtUp() const {
  if (!targets_known_ || !own_reads_.empty()) return false;
  if (!std::ranges::all_of(endless_, [&](const auto& partition) { return targets_.contains(partition); }))
    return false;
  const auto positions = ReadPositions();  // before it is asked who waits: see Lane::Dispatch
  const auto waits = [](const auto& lane) { return lane->waiting_bytes() > 0; };
  if (std::ranges::any_of(lanes_, waits)) return false;
  const auto behind = [this](const auto& entry) {
    const TableRun& table = *entry.second;
    return !table.failed() &&
           (table.opening() || std::ranges::any_of(table.behind(), [this](const auto& missing) {
              return started_.contains(missing.first);
            }));
  };
  if (std::ranges::any_of(tables_, behind)) return false;
  return std::ranges::all_of(targets_, [&](const auto& target) {
    auto at = positions.find(target.first);
    return at != positions.end() && at->second >= target.second;
  });
}

// --- lower bound

// What this process knows of the partitions that are its own.
commit::Complete Controller::OursComplete() {
  commit::PendingFrom pending;
  for (const auto& [id, table] : tables_) table->AddPendingTo(pending);
  commit::Complete ours;
  ours.bound = ledger_->Bound(std::move(pending));
  for (const auto& [id, table] : tables_) {
    const std::string& name = table->target()->name;
    if (name.empty()) continue;
    // What the rule made is told even before the table is there: a table that could not be made must be found
    // again when it can.
    const auto stored = stored_.tables.find(name);
    std::string uuid = table->uuid();
    if (uuid.empty() && stored != stored_.tables.end()) uuid = stored->second.uuid;
    ours.tables[name] = {uuid, config_.tables.at(table->target()->rule).name.ToString(),
                         table->target()->key};
    for (const auto& [partition, from] : table->MissingFrom()) {
      if (ours.bound.contains(partition)) ours.behind[name][partition] = from;
    }
  }
  for (const auto& [name, missing] : strangers_behind_) {
    for (const auto& [partition, from] : missing) {
      if (ours.bound.contains(partition)) ours.behind[name][partition] = from;
    }
  }
  return ours;
}

// At most once a minute, when something was committed since.
Status Controller::ServeComplete() {
  if (services_->sole) return Ok();
  if (storing_) {
    if (storing_->wait_for(std::chrono::seconds(0)) != std::future_status::ready) return Ok();
    auto stored = storing_->get();
    storing_.reset();
    if (!stored.ok()) {
      if (stored.error().retry() == RetryHint::kNo) return std::move(stored).error();
      ShowTrouble(stored.error());
      worth_storing_ = true;
      return Ok();
    }
    if (stored->complete) stored_ = *std::move(stored->complete);
    return Ok();
  }
  const int64_t now_ns = clock_.MonotonicNs();
  if (next_store_ns_ == 0) next_store_ns_ = now_ns + kStoreEveryMs * kNsPerMs;
  if (!worth_storing_ || now_ns < next_store_ns_ || started_.empty()) return Ok();
  next_store_ns_ = now_ns + kStoreEveryMs * kNsPerMs;
  worth_storing_ = false;
  FIRN_TRY(Cut({.all = false, .targets = {}, .pause = false}));  // how far the read has come by now
  storing_ = committers_->Async(
      [this, ours = OursComplete()] { return control_.Store(config_.id, ours, abort_.get_token()); });
  return Ok();
}

// At a clean stop: lanes have handed everything over and nothing is in flight.
Status Controller::StoreComplete() {
  if (storing_) {
    Ignore(storing_->get());  // ours is newer
    storing_.reset();
  }
  if (started_.empty()) return Ok();
  FIRN_ASSIGN(auto stored, committers_
                               ->Async([this, ours = OursComplete()] {
                                 return control_.Store(config_.id, ours, abort_.get_token());
                               })
                               .get());
  if (stored.complete) stored_ = *std::move(stored.complete);
  return Ok();
}

// Group offsets, for people: below them everything is committed, whatever the table.
void Controller::Acknowledge() {
  commit::PendingFrom pending;
  for (const auto& [id, table] : tables_) table->AddPendingTo(pending);
  record::Positions bound = ledger_->Bound(std::move(pending));
  std::erase_if(bound, [this](const auto& entry) {
    const auto known = acknowledged_.find(entry.first);
    const auto begun = started_.find(entry.first);
    if (begun == started_.end()) return true;
    const int64_t at = known == acknowledged_.end() ? begun->second.next : known->second.next;
    return entry.second.next <= at;
  });
  if (bound.empty()) return;
  for (const auto& [partition, position] : bound) acknowledged_[partition] = position;
  std::string uuid = control_uuid_;
  int64_t epoch = 0;
  if (services_->sole) {
    for (const auto& [id, table] : tables_) {
      if (table->target()->name.empty()) continue;
      uuid = table->uuid();
      epoch = table->epoch();
    }
  }
  source_->Acknowledge(bound, commit::GroupNote(uuid, epoch));
}

// --- catching up

Status Controller::ServeCatchUps() {
  if (services_->sole) return Ok();
  FIRN_TRY(StartCatchUps());
  std::vector<uint32_t> reading;
  for (const auto& [id, own] : own_reads_) reading.push_back(id);
  for (const uint32_t id : reading) {
    TableRun& table = *tables_.at(id);
    OwnRead& own = own_reads_.at(id);
    if (own.connecting) {
      if (own.connecting->wait_for(std::chrono::seconds(0)) != std::future_status::ready) continue;
      auto source = own.connecting->get();
      own.connecting.reset();
      if (!source.ok()) {
        const bool again = source.error().retry() == RetryHint::kYes;
        own_reads_.erase(id);
        if (!again) FIRN_TRY(TableFailed(table, std::move(source).error()));
        continue;
      }
      FIRN_ASSIGN(auto sorter, MakeSorter());
      LaneConfig lane = LaneSettings(deps_.lanes + static_cast<int>(id));
      lane.source_index = 0;
      lane.only_target = id;
      lane.fails_whole = true;
      own.read = std::make_unique<CatchUp>(std::move(source).value(), own.from);
      own.read->StartLane(std::move(lane), deps_.make_decoder, std::move(sorter), book_.unrouted(),
                          {table.view(), nullptr});
      obs::Log(obs::Level::kInfo, "table catches up by a read of its own",
               {{"pipeline", config_.id}, {"table", table.target()->name}, {"partitions", own.from.size()}});
    }
    Status served = ServeCatchUp(table, *own.read);
    if (!served.ok()) FIRN_TRY(TableFailed(table, std::move(served).error()));
  }
  return Ok();
}

void Controller::DropOwnReads(const std::function<bool(const OwnRead&)>& which) {
  for (auto it = own_reads_.begin(); it != own_reads_.end();) {
    if (!which(it->second)) {
      ++it;
      continue;
    }
    if (it->second.connecting) it->second.connecting->wait();
    TableRun& table = *tables_.at(it->first);
    it = own_reads_.erase(it);
    table.AbandonJoin();
    OfferToAll(table);
  }
}

Status Controller::StartCatchUps() {
  for (auto& [id, table] : tables_) {
    if (own_reads_.size() >= kOwnReads) break;
    if (table->behind().empty() || table->failed() || !table->opened() || own_reads_.contains(id) ||
        table->joining() || table->target()->name.empty()) {
      continue;
    }
    OwnRead& own = own_reads_[id];
    for (const auto& [partition, from] : table->MissingFrom()) {
      const auto at = table->positions().find(partition);
      const auto started = started_.find(partition);
      if (started == started_.end()) continue;
      record::PartitionPosition position =
          at != table->positions().end() && at->second.next == from
              ? at->second
              : record::PartitionPosition{from, started->second.identity, {}};
      own.from[partition] = std::move(position);
    }
    if (own.from.empty()) {
      own_reads_.erase(id);
      continue;
    }
    table->ShowTrouble(Error(ErrorKind::kUnavailable, "catches up with what it missed while it had failed"));
    own.connecting = committers_->Async([this, from = own.from] { return CatchUp::Connect(deps_, from); });
  }
  return Ok();
}

Status Controller::ServeCatchUp(TableRun& table, CatchUp& read) {
  FIRN_TRY(read.Serve());
  for (const TableRequest& request : read.TakeRequests()) FIRN_TRY(ServeRequest(request));
  if (table.failed()) return Ok();
  if (!read.joined()) return read.Near(ledger_->read()) ? JoinRead(table, read) : Ok();
  if (!read.Reached()) return Ok();
  FIRN_ASSIGN(auto part, read.Cut(table.target(), /*pause=*/true));
  FIRN_TRY(table.Take(std::move(part), read.positions()));
  table.Joined();
  own_reads_.erase(table.target()->id);
  OfferToAll(table);
  worth_storing_ = true;
  obs::Log(obs::Level::kInfo, "table has caught up",
           {{"pipeline", config_.id}, {"table", table.target()->name}});
  return Ok();
}

// Both reads stand still: from where the further one is, the lanes give the table its records again.
Status Controller::JoinRead(TableRun& table, CatchUp& read) {
  FIRN_ASSIGN(auto part, read.Cut(table.target(), /*pause=*/true));
  FIRN_TRY(table.Take(std::move(part), read.positions()));
  FIRN_TRY(Cut({.all = false, .targets = {}, .pause = true}));
  table.Join(read.Join(ledger_->read()));
  OfferToAll(table);
  ResumeLanes(/*drop_waiting=*/false);
  return Ok();
}

// --- what people see

// Where reading stands in each partition that is ours.
std::map<SourcePartition, int64_t> Controller::ReadPositions() const {
  std::map<SourcePartition, int64_t> positions;
  for (const auto& [partition, position] : started_) positions[partition] = position.next;
  for (const auto& lane : lanes_) {
    for (const auto& [partition, next] : lane->positions()) {
      if (auto it = positions.find(partition); it != positions.end()) it->second = std::max(it->second, next);
    }
  }
  return positions;
}

Status Controller::RefreshLag() {
  const int64_t now_ns = clock_.MonotonicNs();
  if (now_ns < next_lag_ns_ || started_.empty()) return Ok();
  next_lag_ns_ = now_ns + kLagEveryMs * kNsPerMs;
  const int64_t now_ms = clock_.NowMs();
  auto bounds = source_->ListPartitions();
  if (!bounds.ok()) {
    if (bounds.error().retry() == RetryHint::kYes)
      return Handle(source::SourceTrouble{std::move(bounds).error(), std::nullopt});
    return std::move(bounds).error();
  }
  const bool ends_known =
      std::ranges::all_of(*bounds, [](const auto& entry) { return entry.second.end.has_value(); });
  if (ends_known) {
    commit::EndObservation observation{now_ms, {}};
    for (const auto& [partition, bound] : *bounds) observation.ends[partition] = *bound.end;
    Observe(std::move(observation));
  }
  ShowLag(*bounds);
  ShowBacklog();
  return Ok();
}

void Controller::ShowLag(const std::map<SourcePartition, source::PartitionBounds>& bounds) {
  std::map<SourcePartition, int64_t> lag;
  std::map<SourcePartition, int64_t> headroom;
  int64_t total = 0;
  for (const auto& [partition, next] : ReadPositions()) {
    const auto bound = bounds.find(partition);
    if (bound != bounds.end() && !bound->second.end) return;  // told in files and bytes
    lag[partition] = bound == bounds.end() ? 0 : std::max<int64_t>(0, *bound->second.end - next);
    total += lag[partition];
    if (bound != bounds.end())
      headroom[partition] = *bound->second.end - lag[partition] - bound->second.first;
  }
  metrics_.Lag(lag, headroom);
  metrics_.LagSeconds(LagAges(lag));
  status_.Write([&](PipelineStatus& s) {
    s.lag = std::move(lag);
    s.lag_records = total;
  });
}

void Controller::ShowBacklog() {
  const auto backlog = source_->backlog();
  if (!backlog) return;
  metrics_.Backlog(backlog->files, backlog->bytes);
  status_.Write([&](PipelineStatus& s) {
    s.lag_files = backlog->files;
    s.lag_bytes = backlog->bytes;
  });
}

// Since when each partition has not been read to its end.
std::map<SourcePartition, int64_t> Controller::LagAges(const std::map<SourcePartition, int64_t>& lag) {
  const int64_t now_ms = clock_.NowMs();
  std::erase_if(at_end_ms_, [&](const auto& entry) { return !lag.contains(entry.first); });
  std::map<SourcePartition, int64_t> ages;
  for (const auto& [partition, records] : lag) {
    int64_t& at_end = at_end_ms_.try_emplace(partition, now_ms).first->second;
    if (records == 0) at_end = now_ms;
    ages[partition] = now_ms - at_end;
  }
  return ages;
}

// Kept until the table's positions have passed them; when the table stays behind for long, thinned out.
void Controller::Observe(commit::EndObservation observation) {
  if (observed_.size() >= kMaxObservations) {
    size_t i = 0;
    std::erase_if(observed_, [&i](const auto&) { return i++ % 2 == 1; });
  }
  observed_.push_back(std::move(observation));
}

// For a table of many: only times by which the read has passed all that was there; the newest one is enough.
std::vector<commit::EndObservation> Controller::Observed() const {
  if (services_->sole) return observed_;
  for (auto seen = observed_.rbegin(); seen != observed_.rend(); ++seen) {
    const bool passed = std::ranges::all_of(seen->ends, [this](const auto& end) {
      const auto at = ledger_->read().find(end.first);
      return at != ledger_->read().end() && at->second.next >= end.second;
    });
    if (passed) return {*seen};
  }
  return {};
}

void Controller::PublishCounters() {
  int64_t rows = 0;
  int64_t bytes = 0;
  int64_t open_files = 0;
  for (const auto& lane : lanes_) {
    rows += lane->rows_total();
    bytes += lane->bytes_total();
    open_files += lane->filling_tables();
  }
  const int64_t now_ns = clock_.MonotonicNs();
  int64_t filling_ms = 0;
  for (const auto& [id, table] : tables_) {
    filling_ms = std::max(filling_ms, table->AgeMs());
    open_files += table->writers_in_flight();
  }
  metrics_.Read(rows, bytes);
  metrics_.Freshness(filling_ms);
  metrics_.OpenFiles(open_files);
  metrics_.Prefetched(source_->prefetched_bytes());
  metrics_.State(status_.state());
  status_.Write([&](PipelineStatus& s) {
    s.rows_decoded = rows;
    s.input_bytes = bytes;
    if (s.lag_records >= 0 || s.lag_files >= 0) s.freshness_ms = filling_ms;
    if (now_ns <= trouble_until_ns_) return;
    if (failed_tables_ > 0) {
      s.state = PipelineState::kDegraded;
      s.reason = FailureText();
    } else if (s.state == PipelineState::kDegraded) {
      s.state = PipelineState::kRunning;
      s.reason.clear();
    }
  });
}

}  // namespace firn::pipeline
