#include "firn/pipeline/controller.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "firn/commit/protocol/progress.h"
#include "firn/commit/protocol/resume.h"
#include "firn/obs/log.h"
#include "firn/pipeline/schema_change.h"
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
constexpr int64_t kMaxDeadLetterBytes = int64_t{64} << 20;
constexpr double kFlushPressure = 0.7;
constexpr size_t kMaxObservations = 64;
constexpr int64_t kLargeMetadataBytes = int64_t{10} << 20;
constexpr int64_t kWindowsToForget = 10;
constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kMinBufferedBytes = int64_t{8} << 20;
// Of the memory limit, what the rows of all writers may take: two batches (one commits, one fills) in every
// lane.
constexpr int64_t kBufferShare = 4;

// Only what lanes and writers look at; positions and snapshots change with every commit.
bool SameForLanes(const iceberg::TableMetadata& a, const iceberg::TableMetadata& b) {
  if (a.current_schema_id != b.current_schema_id || a.default_spec_id != b.default_spec_id ||
      a.default_sort_order_id != b.default_sort_order_id || a.location != b.location ||
      a.table_uuid != b.table_uuid) {
    return false;
  }
  const auto settings = [](const iceberg::Properties& all) {
    iceberg::Properties kept;
    for (const auto& [key, value] : all) {
      if (!key.starts_with("firn.progress.")) kept.emplace(key, value);
    }
    return kept;
  };
  return settings(a.properties) == settings(b.properties);
}

Error UnknownError(const commit::UnknownOutcome& unknown) {
  return Error(
             ErrorKind::kDataLoss,
             fmt::format("it is not known whether the last commit was applied ({}); its files were kept: {}",
                         unknown.error.ToString(), fmt::join(unknown.files, ", ")))
      .WithRemedy(
          "Start again when the catalog answers: the table's own positions decide what is read next.");
}

Status AfterGroupOffsets() {
  FIRN_FAULT_POINT(group_offsets_after_commit);
  return Ok();
}

}  // namespace

Controller::Controller(const PipelineConfig& config, PipelineDeps& deps, const RunOptions& options,
                       StatusBoard& status)
    : config_(config),
      deps_(deps),
      options_(options),
      status_(status),
      clock_(*deps.clock),
      metrics_(*deps.metrics, config.id, config.table.name.ToString()) {}

Controller::~Controller() {
  abort_.request_stop();
  for (auto& lane : lanes_) lane->Stop();
  carry_.Discard();
  commit_thread_.reset();
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
  if (!ended.ok() && ended.error().kind() != ErrorKind::kCancelled) Ignore(AwaitCommit(kRevokeBoundMs));
  return ended;
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

Status Controller::SetUp(const std::stop_token& stop) {
  FIRN_ASSIGN(auto opened, OpenOrCreateTable(*deps_.catalog, config_.table, *deps_.ids,
                                             [&] { return InferColumnsAndTell(stop); }));
  io_ = std::make_unique<runtime::Executor>("io", static_cast<size_t>(deps_.lanes));
  commit_thread_ = std::make_unique<runtime::Executor>("commit", 1);
  commit::CommitterConfig committer;
  committer.table = Identifier(config_.table.name);
  committer.pipeline_id = config_.id;
  committer.branch = config_.table.branch;
  committer_ = std::make_unique<commit::Committer>(deps_.catalog, committer, clock_, *deps_.ids);
  dead_letters_ = std::make_unique<DeadLetterSink>(deps_.dead_letter_catalog, config_.dead_letters,
                                                   config_.id, clock_, *deps_.ids, deps_.pool);
  FIRN_TRY(AdoptTable(opened.table));
  FIRN_ASSIGN(source_, deps_.make_source(deps_.lanes));
  FIRN_TRY(source_->Open());
  const int64_t buffers = deps_.memory->limit_bytes() / kBufferShare / (2 * deps_.lanes);
  for (int i = 0; i < deps_.lanes; ++i) {
    LaneConfig lane{i, config_.on_bad_record, std::max(buffers, kMinBufferedBytes), deps_.pool, deps_.ids};
    lanes_.push_back(std::make_unique<Lane>(lane, *source_, deps_.make_decoder));
    lanes_.back()->Start();
  }
  return source_->Subscribe(bounded());
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
  FIRN_TRY(CheckLanes());
  FIRN_TRY(CollectCommit());
  FIRN_TRY(ServeRefusal());
  FIRN_TRY(ServeSchemaRequest());
  FIRN_TRY(RefreshLag());
  PublishCounters();
  const bool due = BatchDue();
  if (due && !in_flight_) {
    FIRN_ASSIGN(auto part, Cut(/*pause=*/false));
    FIRN_TRY(Submit(std::move(part)));
  }
  const bool hold = OverLimits() && in_flight_.has_value();
  if (hold != held_) {
    held_ = hold;
    for (auto& lane : lanes_) lane->Hold(hold);
  }
  return Ok();
}

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
    FIRN_TRY(
        AwaitCommit(kRevokeBoundMs));  // the positions in the table are only final when nothing is in flight
    FIRN_ASSIGN(auto plan, PlanReading(partitions));
    epoch_ = std::max(epoch_, plan.epoch);
    refusals_ = 0;
    metrics_.Rebalanced();
    obs::Log(obs::Level::kInfo, "partitions assigned",
             {{"pipeline", config_.id}, {"partitions", partitions.size()}, {"start", plan.how}});
    for (const auto& [partition, position] : plan.positions) started_[partition] = position;
    if (bounded() && !targets_known_) {
      FIRN_ASSIGN(auto all, source_->ListPartitions());
      AimAtEnds(all);
    }
    FIRN_TRY(source_->Start(plan.positions));
  }
  targets_known_ = true;
  ResumeLanes(/*drop_polled=*/false);
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

// Where the table and the log say that these partitions go on.
Result<StartPlan> Controller::PlanReading(const std::vector<SourcePartition>& partitions) {
  const StartContext context{
      source_.get(), deps_.catalog.get(), &config_, &options_, [this](const record::Positions& start) {
        return commit_thread_->Async([&] { return committer_->CommitStart(start, abort_.get_token()); })
            .get();
      }};
  FIRN_ASSIGN(auto plan, Persist<StartPlan>([&] { return PlanStart(context, partitions); }));
  for (const auto& [partition, from] : plan.origins) {
    for (auto& lane : lanes_) lane->SetOrigin(partition, from);
  }
  return plan;
}

// Lanes pause; what holds rows of the revoked partitions is committed or discarded; then the partitions are
// given up.
Status Controller::OnRevoked(const source::PartitionsRevoked& revoked) {
  FIRN_ASSIGN(auto part, Cut(/*pause=*/true));
  const bool touched = std::ranges::any_of(
      revoked.partitions, [&](const auto& partition) { return part.ranges.contains(partition); });
  bool discarded = false;
  if (touched && (revoked.lost || !part.worth_committing())) {
    discarded = true;
    part.Discard();
  } else if (touched) {
    FIRN_TRY(AwaitCommit(kRevokeBoundMs));
    if (in_flight_ || refused_by_) {
      discarded =
          true;  // a batch in flight beyond the bound may still land: then the fence tells the next owner
      part.Discard();
    } else {
      FIRN_TRY(Submit(std::move(part)));
      FIRN_TRY(AwaitCommit(kRevokeBoundMs));
    }
  } else {
    carry_ = std::move(part);
  }
  metrics_.Rebalanced();
  obs::Log(obs::Level::kInfo, "partitions revoked",
           {{"pipeline", config_.id},
            {"partitions", revoked.partitions.size()},
            {"lost", revoked.lost},
            {"discarded", discarded}});
  for (const SourcePartition& partition : revoked.partitions) started_.erase(partition);
  FIRN_TRY(source_->Release(revoked.partitions));
  for (auto& lane : lanes_) lane->Forget(revoked.partitions);
  if (discarded) return Resync();
  ResumeLanes(/*drop_polled=*/false);
  return Ok();
}

Status Controller::CheckLanes() {
  for (auto& lane : lanes_) {
    if (auto error = lane->error()) return *std::move(error);
    if (const auto stall = lane->stall()) ShowTrouble(*stall);
  }
  return Ok();
}

// One change at a time: it is committed in a commit of its own, by the committer thread, behind the batch in
// flight.
Status Controller::ServeSchemaRequest() {
  for (auto& lane : lanes_) {
    auto request = lane->schema_request();
    if (!request || request->view_version < view_->version) {
      if (request) lane->Offer(view_);
      continue;
    }
    SchemaChange change(config_, request->delta);
    auto changed = commit_thread_->Async([&] {
      return committer_->Change([&](const iceberg::TableMetadata& table) { return change.Plan(table); },
                                abort_.get_token());
    });
    FIRN_ASSIGN(auto table, changed.get());
    if (table.metadata->current_schema_id != view_->table.metadata->current_schema_id) {
      metrics_.SchemaChanged();
      obs::Log(obs::Level::kInfo, "schema changed",
               {{"pipeline", config_.id}, {"table", status_.Read().table}, {"change", change.summary()}});
    }
    for (const record::RefusedChange& refused : change.refused()) {
      obs::Log(obs::Level::kWarning, "schema change refused; records that need it follow on_bad_record",
               {{"pipeline", config_.id}, {"field", refused.name}, {"why", refused.why}});
      refused_changes_.push_back(refused);
    }
    FIRN_TRY(View(table));
  }
  return Ok();
}

Status Controller::CollectCommit() {
  if (!in_flight_ || in_flight_->wait_for(std::chrono::seconds(0)) != std::future_status::ready) return Ok();
  BatchReport report = in_flight_->get();
  in_flight_writers_ = 0;
  in_flight_.reset();
  return OnReport(std::move(report));
}

Status Controller::OnReport(BatchReport report) {
  metrics_.Batch(report, filled_ms_);
  if (report.failed) return *std::move(report.failed);
  if (auto* done = std::get_if<commit::Committed>(&*report.outcome)) {
    epoch_ = done->epoch;
    if (done->valid_through_ms > 0) valid_through_ms_ = done->valid_through_ms;
    std::erase_if(observed_,
                  [&](const auto& observation) { return observation.time_ms <= done->valid_through_ms; });
    status_.Write([&](PipelineStatus& s) { s.conflicts += done->tries - 1; });
    return OnCommitted(report, done->table, done->snapshot_id);
  }
  if (auto* done = std::get_if<commit::AlreadyCommitted>(&*report.outcome))
    return OnCommitted(report, done->table, done->snapshot_id);
  if (auto* conflict = std::get_if<commit::ConflictExhausted>(&*report.outcome))
    return std::move(conflict->error);
  if (auto* unknown = std::get_if<commit::UnknownOutcome>(&*report.outcome)) {
    if (unknown->error.kind() == ErrorKind::kCancelled) return std::move(unknown->error);
    return UnknownError(*unknown);
  }
  auto& rejected = std::get<commit::Rejected>(*report.outcome);
  if (!rejected.fence) return std::move(rejected.error);
  refused_by_ = std::move(rejected.fence);
  return Ok();
}

Status Controller::OnCommitted(const BatchReport& report, const iceberg::LoadedTable& table,
                               int64_t snapshot_id) {
  record::Positions acknowledged;
  for (const auto& [partition, range] : report.ranges) {
    acknowledged[partition] = {range.to, range.identity, range.last, range.cursor};
  }
  obs::Log(obs::Level::kInfo, "batch committed",
           {{"pipeline", config_.id},
            {"table", status_.Read().table},
            {"snapshot", snapshot_id},
            {"epoch", epoch_},
            {"rows", report.rows},
            {"files", report.data_files},
            {"bytes", report.data_file_bytes},
            {"dead_letters", report.dead_letters},
            {"finish_ms", report.finish_ms},
            {"commit_ms", report.commit_ms}});
  metrics_.Committed(clock_.NowMs());
  WatchMetadata(table);
  if (valid_through_ms_ > 0) metrics_.ValidThrough(valid_through_ms_);
  source_->Acknowledge(acknowledged, commit::GroupNote(table.metadata->table_uuid, epoch_));
  FIRN_TRY(AfterGroupOffsets());
  status_.Write([&](PipelineStatus& s) {
    s.rows_committed += report.rows;
    s.dead_letters += report.dead_letters;
    s.skipped += report.skipped;
    s.tombstones_skipped += report.tombstones_skipped;
    s.unknown_fields_ignored += report.unknown_fields_ignored;
    s.data_files += report.data_files;
    ++s.commits;
    s.last_commit_ms = clock_.NowMs();
    s.last_commit_took_ms = report.finish_ms + report.commit_ms;
    s.last_snapshot_id = snapshot_id;
    s.metadata_location = table.metadata_location;
  });
  return AdoptTable(table);
}

// Another process moved a partition that we hold: after a rebalance that we have not seen yet, or because two
// run the same pipeline without a group. Read again from the table; twice on a partition that is still ours
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

Status Controller::AdoptTable(const iceberg::LoadedTable& table) {
  status_.Write([&](PipelineStatus& s) { s.metadata_location = table.metadata_location; });
  if (view_ && SameForLanes(*view_->table.metadata, *table.metadata)) return Ok();
  return View(table);
}

Status Controller::View(const iceberg::LoadedTable& table) {
  FIRN_ASSIGN(auto bound, BindSchema(config_, *table.metadata, deps_.pool));
  bound.refused = refused_changes_;
  view_ = std::make_shared<TableView>(TableView{table, std::move(bound), view_ ? view_->version + 1 : 0});
  for (auto& lane : lanes_) lane->Offer(view_);
  return Ok();
}

bool Controller::OverLimits() const {
  int64_t records = carry_.records;
  int64_t bytes = carry_.input_bytes;
  int64_t letters = carry_.dead_letter_bytes;
  for (const auto& lane : lanes_) {
    records += lane->records_filling();
    bytes += lane->bytes_filling();
    letters += lane->dead_letter_bytes_filling();
  }
  return records > 0 && (records >= config_.commit.max_records || bytes >= config_.commit.max_input_bytes ||
                         letters >= kMaxDeadLetterBytes || deps_.memory->pressure() >= kFlushPressure);
}

// The interval counts from the first record of the batch.
bool Controller::BatchDue() {
  const bool filling = carry_.records > 0 || std::ranges::any_of(lanes_, [](const auto& lane) {
                         return lane->records_filling() > 0;
                       });
  if (!filling) {
    batch_begin_ns_ = 0;
    return false;
  }
  const int64_t now_ns = clock_.MonotonicNs();
  if (batch_begin_ns_ == 0) batch_begin_ns_ = now_ns;
  return now_ns - batch_begin_ns_ >= config_.commit.interval_ms * kNsPerMs || OverLimits();
}

Result<BatchPart> Controller::Cut(bool pause) {
  if (batch_begin_ns_ != 0) filled_ms_ = (clock_.MonotonicNs() - batch_begin_ns_) / kNsPerMs;
  for (auto& lane : lanes_) lane->RequestCut(pause);
  BatchPart whole = std::exchange(carry_, BatchPart{});
  Status merged = Ok();
  for (auto& lane : lanes_) {
    Status status = whole.Merge(lane->CollectCut());
    if (!status.ok()) merged = std::move(status);
  }
  batch_begin_ns_ = 0;
  FIRN_TRY(merged);
  return whole;
}

Status Controller::Submit(BatchPart part) {
  if (!part.worth_committing()) {
    carry_ = std::move(part);
    return Ok();
  }
  FIRN_TRY(CheckDeadLetterRatio(part));
  BatchCommitContext context{committer_.get(), dead_letters_.get(), io_.get(), &clock_};
  in_flight_writers_ = static_cast<int64_t>(part.writers.size());
  auto shared = std::make_shared<BatchPart>(std::move(part));
  in_flight_ = commit_thread_->Async([shared, observed = observed_, context, abort = abort_.get_token()] {
    return CommitPart(std::move(*shared), observed, context, abort);
  });
  return Ok();
}

// A wrong schema must not drain a topic: looked at over at least `min_records`, before the batch is
// committed.
Status Controller::CheckDeadLetterRatio(const BatchPart& part) {
  const DeadLetterConfig& limit = config_.dead_letters;
  window_records_ += part.records;
  window_bad_ += part.bad_records;
  if (window_records_ < limit.fail_above_min_records) return Ok();
  const double ratio = static_cast<double>(window_bad_) / static_cast<double>(window_records_);
  if (ratio > limit.fail_above_ratio) {
    const std::string example =
        part.dead_letters.empty()
            ? std::string()
            : fmt::format("; for example {}[{}] offset {}: {}", part.dead_letters.front().partition.topic,
                          part.dead_letters.front().partition.partition, part.dead_letters.front().offset,
                          part.dead_letters.front().message);
    return Error(ErrorKind::kUnavailable,
                 fmt::format("{} of {} records are bad, above dead_letters.fail_above ({:.3g}); nothing was "
                             "moved past them{}",
                             window_bad_, window_records_, limit.fail_above_ratio, example))
        .WithRetry(RetryHint::kNo)
        .WithRemedy("Mend the columns or the producer, or raise dead_letters.fail_above.");
  }
  if (window_records_ >= kWindowsToForget * limit.fail_above_min_records) window_records_ = window_bad_ = 0;
  return Ok();
}

Status Controller::DiscardFilling() {
  FIRN_ASSIGN(auto part, Cut(/*pause=*/true));
  part.Discard();
  return Ok();
}

// Waits until nothing is in flight, at most `bound_ms`.
Status Controller::AwaitCommit(int64_t bound_ms) {
  if (!in_flight_) return Ok();
  const int64_t end_ns = clock_.MonotonicNs() + bound_ms * kNsPerMs;
  while (in_flight_->wait_for(std::chrono::milliseconds(kControlPollMs)) != std::future_status::ready) {
    if (clock_.MonotonicNs() >= end_ns || abort_.stop_requested()) return Ok();
  }
  return CollectCommit();
}

// Lanes are paused and hold nothing. Everything that is still ours is read again from where the table stands.
Status Controller::Resync() {
  while (in_flight_) {
    if (abort_.stop_requested()) return Error(ErrorKind::kCancelled, "stopped at once");
    FIRN_TRY(AwaitCommit(kRevokeBoundMs));
  }
  std::vector<SourcePartition> partitions;
  for (const auto& [partition, position] : started_) partitions.push_back(partition);
  if (!partitions.empty()) {
    FIRN_ASSIGN(auto plan, PlanReading(partitions));
    started_ = std::move(plan.positions);
    for (const SourcePartition& partition : endless_) targets_.erase(partition);  // told anew
    FIRN_TRY(source_->Seek(started_));
  }
  ResumeLanes(/*drop_polled=*/true);
  return Ok();
}

void Controller::ResumeLanes(bool drop_polled) {
  for (auto& lane : lanes_) lane->Resume(view_, drop_polled);
}

// The clean end: what was filled is committed, within the shutdown limit.
Status Controller::Flush() {
  const int64_t limit_ms = bounded() ? INT64_MAX / kNsPerMs / 2 : options_.shutdown_timeout_ms;
  const int64_t end_ns = clock_.MonotonicNs() + limit_ms * kNsPerMs;
  const auto left_ms = [&] { return std::max<int64_t>(0, (end_ns - clock_.MonotonicNs()) / kNsPerMs); };
  FIRN_ASSIGN(auto part, Cut(/*pause=*/true));
  FIRN_TRY(AwaitCommit(left_ms()));
  if (refused_by_) {
    part.Discard();  // what is read again at the next start, or by the loop
  } else if (!in_flight_) {
    FIRN_TRY(Submit(std::move(part)));
    FIRN_TRY(AwaitCommit(left_ms()));
  }
  if (in_flight_) {
    abort_.request_stop();
    return Error(
        ErrorKind::kCancelled,
        fmt::format("the last batch was not committed within {} ms; it is read again at the next start",
                    limit_ms));
  }
  PublishCounters();
  return Ok();
}

bool Controller::CaughtUp() const {
  if (!targets_known_) return false;
  if (!std::ranges::all_of(endless_, [&](const auto& partition) { return targets_.contains(partition); }))
    return false;
  const auto positions = ReadPositions();
  return std::ranges::all_of(targets_, [&](const auto& target) {
    auto at = positions.find(target.first);
    return at != positions.end() && at->second >= target.second;
  });
}

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
      return Handle(source::SourceTrouble{std::move(bounds).error()});
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

// A stream must not bury its table: told once, before readers feel it.
void Controller::WatchMetadata(const iceberg::LoadedTable& table) {
  auto info = table.store->Head(table.metadata_location);
  if (!info.ok()) return;
  metrics_.MetadataBytes(info->size_bytes);
  if (info->size_bytes < kLargeMetadataBytes || std::exchange(told_of_metadata_, true)) return;
  obs::Log(obs::Level::kWarning,
           "the table's metadata is large; expire snapshots, or shorten history.expire.max-snapshot-age-ms",
           {{"pipeline", config_.id},
            {"bytes", info->size_bytes},
            {"snapshots", table.metadata->snapshots.size()}});
}

// Kept until the table's positions have passed them; when the table stays behind for long, thinned out.
void Controller::Observe(commit::EndObservation observation) {
  if (observed_.size() >= kMaxObservations) {
    size_t i = 0;
    std::erase_if(observed_, [&i](const auto&) { return i++ % 2 == 1; });
  }
  observed_.push_back(std::move(observation));
}

void Controller::PublishCounters() {
  int64_t rows = 0;
  int64_t bytes = 0;
  for (const auto& lane : lanes_) {
    rows += lane->rows_total();
    bytes += lane->bytes_total();
  }
  const int64_t now_ns = clock_.MonotonicNs();
  const int64_t filling_ms = batch_begin_ns_ == 0 ? 0 : (now_ns - batch_begin_ns_) / kNsPerMs;
  metrics_.Read(rows, bytes);
  metrics_.Freshness(filling_ms);
  metrics_.OpenFiles(in_flight_writers_ + std::ranges::count_if(lanes_, [](const auto& lane) {
                       return lane->records_filling() > 0;
                     }));
  metrics_.Prefetched(source_->prefetched_bytes());
  metrics_.State(status_.Read().state);
  status_.Write([&](PipelineStatus& s) {
    s.rows_decoded = rows;
    s.input_bytes = bytes;
    if (s.lag_records >= 0 || s.lag_files >= 0) s.freshness_ms = filling_ms;
    if (s.state == PipelineState::kDegraded && now_ns > trouble_until_ns_) {
      s.state = PipelineState::kRunning;
      s.reason.clear();
    }
  });
}

}  // namespace firn::pipeline
