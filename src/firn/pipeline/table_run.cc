#include "firn/pipeline/table_run.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "firn/commit/protocol/progress.h"
#include "firn/commit/protocol/resume.h"
#include "firn/pipeline/schema_change.h"
#include "firn/pipeline/table_definition.h"
#include "firn/pipeline/table_setup.h"

namespace firn::pipeline {

namespace {

using record::SourcePartition;

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kRetryOpenMs = 500;
constexpr int64_t kTroubleShowsMs = 10'000;
constexpr int64_t kMaxDeadLetterBytes = int64_t{64} << 20;
constexpr int64_t kLargeMetadataBytes = int64_t{10} << 20;
constexpr int64_t kWindowsToForget = 10;

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

// What hits every table alike.
bool OfTheProcess(const Error& error) {
  return error.kind() == ErrorKind::kCancelled || error.kind() == ErrorKind::kResourceExhausted;
}

template <typename T>
bool Ready(const std::optional<std::future<T>>& future) {
  return future && future->wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

TableConfig ConfigOf(const PipelineConfig& pipeline, const Target& target) {
  if (target.name.empty()) return {};
  TableConfig config = pipeline.tables.at(target.rule);
  auto name = ParseTableName(target.name);
  if (name.ok()) config.name = std::move(name).value();
  return config;
}

record::Positions PositionsIn(const iceberg::TableMetadata& table, const PipelineConfig& pipeline,
                              const TableConfig& config) {
  auto progress = commit::FindProgress(table, pipeline.id, config.branch);
  return progress.ok() && *progress ? std::move((*progress)->positions) : record::Positions{};
}

}  // namespace

TableRun::TableRun(TargetPtr target, const TableServices& services)
    : target_(std::move(target)),
      services_(services),
      clock_(*services.deps.clock),
      config_(ConfigOf(services.config, *target_)) {
  if (target_->name.empty()) return;
  metrics_.emplace(*services.deps.metrics, services.config.id, target_->name);
  Publish([](TableStatus& s) { s.state = PipelineState::kStarting; });
}

TableRun::~TableRun() {
  carry_.Discard();
  held_.Discard();
  if (in_flight_) in_flight_->wait();
  if (open_) open_->wait();
  if (change_) change_->wait();
}

Status TableRun::MakeCommitter() {
  const auto found = services_.deps.catalogs.find(config_.name.catalog);
  if (found == services_.deps.catalogs.end())
    return Error(ErrorKind::kInternal, "no catalog " + config_.name.catalog);
  catalog_ = found->second;
  commit::CommitterConfig committer;
  committer.table = Identifier(config_.name);
  committer.pipeline_id = services_.config.id;
  committer.branch = config_.branch;
  committer_ = std::make_unique<commit::Committer>(catalog_, committer, clock_, *services_.deps.ids);
  return Ok();
}

Status TableRun::OpenNow(const InferColumns& infer) {
  FIRN_TRY(MakeCommitter());
  FIRN_ASSIGN(auto opened, OpenOrCreateTable(*catalog_, config_, *services_.deps.ids, infer));
  positions_ = PositionsIn(*opened.table.metadata, services_.config, config_);
  Publish([](TableStatus& s) { s.state = PipelineState::kRunning; });
  TableNews news;
  return Adopt(opened.table, news);
}

void TableRun::Open(Sample sample, std::optional<commit::Complete::KnownTable> known,
                    std::string cluster_id) {
  retry_open_ns_ = 0;
  open_order_ = {std::move(sample), std::move(known), std::move(cluster_id)};
  open_ = services_.committers.Async([this] { return OpenTable(open_order_); });
}

// On the pool. The table as it is, or made, and where it stands (product.md, "Where a pipeline resumes").
Result<TableRun::Opened> TableRun::OpenTable(const OpenOrder& order) {
  if (committer_ == nullptr) FIRN_TRY(MakeCommitter());
  const std::string context = "table " + target_->name;
  const auto gone = [&](std::string_view what) {
    return Error(ErrorKind::kDataLoss, fmt::format("the table {} since this pipeline wrote to it", what))
        .WithRemedy("Restore it, or run with --first-run: it is then filled with what comes from here on.")
        .WithContext(context);
  };
  const bool must_be_there = order.known && !services_.options.first_run;
  if (must_be_there) {
    auto there = catalog_->LoadTable(Identifier(config_.name));
    if (!there.ok() && there.error().kind() == ErrorKind::kNotFound) return gone("was dropped");
  }
  Opened opened;
  const auto infer = [&]() -> Result<iceberg::SchemaPtr> {
    FIRN_ASSIGN(auto sample, order.sample());
    if (sample == nullptr || sample->empty()) {
      return Error(ErrorKind::kNotFound, "no record to infer columns from").WithRemedy("Declare `columns`.");
    }
    FIRN_ASSIGN(auto inferred, services_.deps.infer_schema(*sample));
    opened.notes = std::move(inferred.notes);
    return inferred.schema;
  };
  FIRN_ASSIGN(auto table, OpenOrCreateTable(*catalog_, config_, *services_.deps.ids, infer));
  opened.table = std::move(table.table);
  if (must_be_there && order.known->uuid != opened.table.metadata->table_uuid) return gone("was made anew");
  commit::ResumeFacts facts;
  facts.table = opened.table.metadata.get();
  facts.pipeline_id = services_.config.id;
  facts.branch = config_.branch;
  facts.first_run_allowed = services_.options.first_run;
  facts.adopt = services_.options.adopt;
  facts.source.cluster_id = order.cluster_id;
  const bool adopts = !facts.adopt.empty() && !table.created;
  if (!adopts) facts.adopt.clear();
  const commit::ResumeDecision decision = commit::DecideResume(facts);
  if (const auto* stop = std::get_if<commit::ResumeStop>(&decision))
    return Error(ErrorKind::kDataLoss, stop->found).WithRemedy(stop->remedy).WithContext(context);
  if (const auto* at = std::get_if<commit::ResumeAt>(&decision)) {
    opened.positions = at->positions;
    opened.epoch = at->epoch;
    opened.how = at->how;
    if (!facts.table->properties.contains(commit::ProgressKey(facts.pipeline_id, facts.branch))) {
      // Adopted, or the property was lost: they become this pipeline's own before anything is added.
      const commit::CommitOutcome outcome = committer_->CommitStart(at->positions, services_.abort);
      if (const auto* rejected = std::get_if<commit::Rejected>(&outcome)) return rejected->error;
      if (const auto* conflict = std::get_if<commit::ConflictExhausted>(&outcome)) return conflict->error;
      if (const auto* unknown = std::get_if<commit::UnknownOutcome>(&outcome))
        return commit::StopOnUnknown(*unknown);
    }
  } else {
    opened.how = table.created ? "made" : "first records of this pipeline";
  }
  return opened;
}

std::future<Result<iceberg::LoadedTable>> TableRun::Load() {
  return services_.committers.Async([this] { return catalog_->LoadTable(Identifier(config_.name)); });
}

Status TableRun::Refresh(Result<iceberg::LoadedTable> loaded) {
  FIRN_TRY_CTX(loaded.ok() ? Ok() : Status(loaded.error()), "table " + target_->name);
  if (view_ && loaded->metadata->table_uuid != uuid()) {
    return Error(ErrorKind::kDataLoss, "the table was replaced while we wrote")
        .WithContext("table " + target_->name);
  }
  positions_ = PositionsIn(*loaded->metadata, services_.config, config_);
  TableNews news;
  return Adopt(*loaded, news);
}

Result<TableNews> TableRun::Poll() {
  TableNews news;
  if (retry_open_ns_ > 0 && clock_.MonotonicNs() >= retry_open_ns_)
    Open(open_order_.sample, open_order_.known, open_order_.cluster_id);
  if (Ready(open_)) FIRN_TRY(PollOpen(news));
  if (Ready(in_flight_)) {
    BatchReport report = in_flight_->get();
    in_flight_.reset();
    writers_in_flight_ = 0;
    FIRN_TRY(OnReport(std::move(report), news));
  }
  if (Ready(change_)) FIRN_TRY(PollChange(news));
  if (closing_gap_ && !in_flight_ && !carry_.worth_committing()) CloseGap();
  if (!busy() && !wanted_.empty() && !failed_) StartChange();
  if (trouble_until_ns_ > 0 && clock_.MonotonicNs() > trouble_until_ns_ && !failed_) {
    trouble_until_ns_ = 0;
    Publish([](TableStatus& s) {
      s.state = PipelineState::kRunning;
      s.reason.clear();
    });
  }
  return news;
}

Status TableRun::PollOpen(TableNews& news) {
  auto opened = open_->get();
  open_.reset();
  if (failed_) return Ok();
  if (!opened.ok()) {
    if (opened.error().retry() == RetryHint::kNo) {
      if (!OfTheProcess(opened.error())) return std::move(opened).error();
      news.fatal = std::move(opened).error();
      return Ok();
    }
    ShowTrouble(opened.error());
    retry_open_ns_ = clock_.MonotonicNs() + kRetryOpenMs * kNsPerMs;
    return Ok();
  }
  open_order_ = {};
  positions_ = std::move(opened->positions);
  epoch_ = opened->epoch;
  FIRN_TRY(View(opened->table));
  news.opened = news.view_changed = true;
  for (const std::string& note : opened->notes)
    obs::Log(obs::Level::kWarning, "inferred columns: " + note,
             {{"pipeline", services_.config.id}, {"table", target_->name}});
  obs::Log(obs::Level::kInfo, "table opened",
           {{"pipeline", services_.config.id}, {"table", target_->name}, {"how", opened->how}});
  Publish([&](TableStatus& s) {
    s.state = PipelineState::kRunning;
    s.reason.clear();
    s.metadata_location = opened->table.metadata_location;
    s.positions = positions_;
  });
  return Ok();
}

bool TableRun::Want(const TableRequest& request) {
  if (view_ == nullptr || request.view_version < view_->version) return true;
  wanted_.push_back(request.delta);
  return false;
}

// One change at a time, in a commit of its own, behind the batch in flight.
void TableRun::StartChange() {
  auto delta = std::make_shared<record::SchemaDelta>(std::move(wanted_.front()));
  wanted_.pop_front();
  change_ = services_.committers.Async([this, delta]() -> Result<Changed> {
    SchemaChange change(config_, *delta);
    FIRN_ASSIGN(auto table,
                committer_->Change([&](const iceberg::TableMetadata& now) { return change.Plan(now); },
                                   services_.abort));
    return Changed{std::move(table), change.refused(), change.summary()};
  });
}

Status TableRun::PollChange(TableNews& news) {
  auto changed = change_->get();
  change_.reset();
  if (failed_) return Ok();
  if (!changed.ok()) {
    if (!OfTheProcess(changed.error())) return std::move(changed).error();
    news.fatal = std::move(changed).error();
    return Ok();
  }
  if (changed->table.metadata->current_schema_id != view_->table.metadata->current_schema_id) {
    metrics_->SchemaChanged();
    obs::Log(obs::Level::kInfo, "schema changed",
             {{"pipeline", services_.config.id}, {"table", target_->name}, {"change", changed->summary}});
  }
  for (const record::RefusedChange& refused : changed->refused) {
    obs::Log(obs::Level::kWarning, "schema change refused; records that need it follow on_bad_record",
             {{"pipeline", services_.config.id},
              {"table", target_->name},
              {"field", refused.name},
              {"why", refused.why}});
    refused_changes_.push_back(refused);
  }
  FIRN_TRY(View(changed->table));
  news.view_changed = true;
  return Ok();
}

Status TableRun::Adopt(const iceberg::LoadedTable& table, TableNews& news) {
  Publish([&](TableStatus& s) {
    s.metadata_location = table.metadata_location;
    s.positions = positions_;
  });
  if (services_.sole)
    services_.status.Write([&](PipelineStatus& s) { s.metadata_location = table.metadata_location; });
  if (view_ && SameForLanes(*view_->table.metadata, *table.metadata)) return Ok();
  news.view_changed = true;
  return View(table);
}

Status TableRun::View(const iceberg::LoadedTable& table) {
  FIRN_ASSIGN(auto bound, BindSchema(services_.config, config_, *table.metadata, services_.deps.pool));
  bound.refused = refused_changes_;
  view_ = std::make_shared<TableView>(TableView{table, std::move(bound), view_ ? view_->version + 1 : 0});
  return Ok();
}

TableOffer TableRun::Offer() const {
  if (failed_ || view_ == nullptr) return {};
  auto takes_from = std::make_shared<TakesFromMap>();
  for (const auto& [partition, position] : positions_) (*takes_from)[partition] = position.next;
  for (const auto& [partition, from] : behind_) {
    const auto joins = joins_.find(partition);
    (*takes_from)[partition] = joins == joins_.end() ? kTakesNothing : joins->second;
  }
  return {view_, std::move(takes_from)};
}

Status TableRun::Take(BatchPart part, const record::Positions& read) {
  if (failed_) {
    for (const auto& [partition, range] : part.taken) commit::AddPending(behind_, partition, range.from);
    part.Discard();
    return Ok();
  }
  record::Positions reached;
  for (const auto& [partition, position] : read) {
    if (part.taken.contains(partition) || carry_.taken.contains(partition) || positions_.contains(partition))
      reached.emplace(partition, position);
  }
  const bool above_join =
      !joins_.empty() && !closing_gap_ && !part.own_read &&
      std::ranges::any_of(part.taken, [&](const auto& entry) { return joins_.contains(entry.first); });
  BatchPart& to = above_join ? held_ : carry_;
  (above_join ? held_reached_ : reached_) = std::move(reached);
  return to.Merge(std::move(part));
}

void TableRun::LeftOut(const commit::PendingFrom& missing) {
  for (const auto& [partition, from] : missing) commit::AddPending(behind_, partition, from);
}

bool TableRun::OverLimits() const {
  const int64_t records = target_->records.load(std::memory_order_relaxed) + carry_.records;
  const int64_t letters = target_->letter_bytes.load(std::memory_order_relaxed) + carry_.dead_letter_bytes;
  return records > 0 &&
         (records >= services_.config.commit.max_records ||
          bytes_filling() >= services_.config.commit.max_input_bytes || letters >= kMaxDeadLetterBytes);
}

int64_t TableRun::AgeMs() {
  if (!filling()) {
    batch_begin_ns_ = 0;
    return 0;
  }
  const int64_t now_ns = clock_.MonotonicNs();
  if (batch_begin_ns_ == 0) batch_begin_ns_ = now_ns;
  return (now_ns - batch_begin_ns_) / kNsPerMs;
}

void TableRun::Cut() {
  if (batch_begin_ns_ != 0) filled_ms_ = (clock_.MonotonicNs() - batch_begin_ns_) / kNsPerMs;
  batch_begin_ns_ = 0;
  carry_.unsettled.clear();  // the lanes tell it anew
  held_.unsettled.clear();
}

Status TableRun::Submit(const std::vector<commit::EndObservation>& observed, int64_t pipeline_records) {
  if (busy() || failed_ || !carry_.worth_committing()) return Ok();
  const bool letters_only = target_->name.empty();
  FIRN_TRY(CheckDeadLetterRatio(carry_, letters_only ? pipeline_records : carry_.records));
  std::set<SourcePartition> apart = carry_.unsettled;
  for (const auto& [partition, from] : behind_) apart.insert(partition);
  record::PositionRanges ranges = commit::JoinTableRanges(positions_, carry_.taken, reached_, apart);
  const BatchCommitContext context{committer_.get(), &services_.control,
                                   LettersId(services_.config.id, target_->name, services_.sole),
                                   &services_.io, &clock_};
  auto part = std::make_shared<BatchPart>(std::exchange(carry_, BatchPart{}));
  in_flight_taken_ = part->taken;
  gap_in_flight_ = closing_gap_;
  writers_in_flight_ = static_cast<int64_t>(part->writers.size());
  auto reachable = Reachable(observed, ranges);
  in_flight_ = services_.committers.Async(
      [part, ranges = std::move(ranges), reachable = std::move(reachable), context, abort = services_.abort] {
        return CommitPart(std::move(*part), ranges, reachable, context, abort);
      });
  return Ok();
}

// Observations that this batch may make true: the read has passed their ends. Partitions that never brought a
// record of this table count as long as the read has passed them.
std::vector<commit::EndObservation> TableRun::Reachable(const std::vector<commit::EndObservation>& observed,
                                                        const record::PositionRanges& ranges) const {
  std::vector<commit::EndObservation> reachable;
  if (services_.sole) return observed;
  for (const commit::EndObservation& all : observed) {
    commit::EndObservation mine{all.time_ms, {}};
    for (const auto& [partition, end] : all.ends) {
      if (ranges.contains(partition) || positions_.contains(partition)) mine.ends.emplace(partition, end);
    }
    reachable.push_back(std::move(mine));
  }
  return reachable;
}

// A wrong schema must not drain a topic: looked at over at least `min_records`, before the batch is
// committed.
Status TableRun::CheckDeadLetterRatio(const BatchPart& part, int64_t records) {
  const DeadLetterConfig& limit = services_.config.dead_letters;
  window_records_ += records;
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

void TableRun::DiscardCarry() {
  carry_.Discard();
  held_.Discard();
  batch_begin_ns_ = 0;
  // The end of an own read may have been in there: the table is as far behind as before.
  closing_gap_ = gap_in_flight_ = false;
  joins_.clear();
}

void TableRun::WaitFor(int64_t ms) const {
  const auto time = std::chrono::milliseconds(ms);
  if (in_flight_) {
    in_flight_->wait_for(time);
  } else if (change_) {
    change_->wait_for(time);
  } else if (open_) {
    open_->wait_for(time);
  }
}

Status TableRun::OnReport(BatchReport report, TableNews& news) {
  if (metrics_) metrics_->Batch(report);
  services_.metrics.Batch(report, filled_ms_);
  if (report.failed) {
    if (!report.letters_failed && !OfTheProcess(*report.failed)) return *std::move(report.failed);
    news.fatal = std::move(report.failed);
    return Ok();
  }
  if (!report.outcome) {  // letters alone
    in_flight_taken_.clear();
    news.committed = true;
    services_.status.Write([&](PipelineStatus& s) {
      s.dead_letters += report.dead_letters;
      s.skipped += report.skipped;
      s.tombstones_skipped += report.tombstones_skipped;
    });
    return Ok();
  }
  if (auto* done = std::get_if<commit::Committed>(&*report.outcome)) {
    epoch_ = done->epoch;
    news.valid_through_ms = done->valid_through_ms;
    services_.status.Write([&](PipelineStatus& s) { s.conflicts += done->tries - 1; });
    return OnCommitted(report, done->table, done->snapshot_id, news);
  }
  if (auto* done = std::get_if<commit::AlreadyCommitted>(&*report.outcome))
    return OnCommitted(report, done->table, done->snapshot_id, news);
  if (auto* conflict = std::get_if<commit::ConflictExhausted>(&*report.outcome))
    return std::move(conflict->error);
  if (auto* unknown = std::get_if<commit::UnknownOutcome>(&*report.outcome)) {
    if (unknown->error.kind() != ErrorKind::kCancelled) return commit::StopOnUnknown(*unknown);
    news.fatal = std::move(unknown->error);
    return Ok();
  }
  auto& rejected = std::get<commit::Rejected>(*report.outcome);
  if (!rejected.fence) return std::move(rejected.error);
  in_flight_taken_.clear();  // read again
  news.refused = std::move(rejected.fence);
  return Ok();
}

Status TableRun::OnCommitted(const BatchReport& report, const iceberg::LoadedTable& table,
                             int64_t snapshot_id, TableNews& news) {
  in_flight_taken_.clear();
  news.committed = true;
  obs::Log(obs::Level::kInfo, "batch committed",
           {{"pipeline", services_.config.id},
            {"table", target_->name},
            {"snapshot", snapshot_id},
            {"epoch", epoch_},
            {"rows", report.rows},
            {"files", report.data_files},
            {"bytes", report.data_file_bytes},
            {"dead_letters", report.dead_letters},
            {"finish_ms", report.finish_ms},
            {"commit_ms", report.commit_ms}});
  metrics_->Committed(clock_.NowMs());
  WatchMetadata(table);
  positions_ = PositionsIn(*table.metadata, services_.config, config_);
  services_.status.Write([&](PipelineStatus& s) {
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
  Publish([&](TableStatus& s) {
    s.rows_committed += report.rows;
    s.dead_letters += report.dead_letters;
    ++s.commits;
    s.last_commit_ms = clock_.NowMs();
    s.last_snapshot_id = snapshot_id;
  });
  if (std::exchange(gap_in_flight_, false)) CloseGap();
  return Adopt(table, news);
}

// A stream must not bury its table: told once, before readers feel it.
void TableRun::WatchMetadata(const iceberg::LoadedTable& table) {
  auto info = table.store->Head(table.metadata_location);
  if (!info.ok()) return;
  metrics_->MetadataBytes(info->size_bytes);
  if (info->size_bytes < kLargeMetadataBytes || std::exchange(told_of_metadata_, true)) return;
  obs::Log(obs::Level::kWarning,
           "the table's metadata is large; expire snapshots, or shorten history.expire.max-snapshot-age-ms",
           {{"pipeline", services_.config.id},
            {"table", target_->name},
            {"bytes", info->size_bytes},
            {"snapshots", table.metadata->snapshots.size()}});
}

void TableRun::Fail(Error error) {
  obs::Log(obs::Level::kError, "table failed; the others go on",
           {{"pipeline", services_.config.id}, {"table", target_->name}, {"error", error}});
  for (const record::PositionRanges* taken : {&carry_.taken, &held_.taken, &in_flight_taken_}) {
    for (const auto& [partition, range] : *taken) commit::AddPending(behind_, partition, range.from);
  }
  in_flight_taken_.clear();
  wanted_.clear();
  retry_open_ns_ = 0;
  DiscardCarry();
  Publish([&](TableStatus& s) {
    s.state = PipelineState::kFailed;
    s.reason = error.ToString();
  });
  failed_ = std::move(error);
}

void TableRun::ShowTrouble(const Error& error) {
  trouble_until_ns_ = clock_.MonotonicNs() + kTroubleShowsMs * kNsPerMs;
  Publish([&](TableStatus& s) {
    s.state = PipelineState::kDegraded;
    s.reason = error.ToString();
  });
}

bool TableRun::touches(const std::vector<SourcePartition>& partitions) const {
  return std::ranges::any_of(partitions, [&](const SourcePartition& partition) {
    return carry_.taken.contains(partition) || held_.taken.contains(partition) ||
           in_flight_taken_.contains(partition);
  });
}

void TableRun::AddPendingTo(commit::PendingFrom& pending) const {
  for (const record::PositionRanges* taken : {&carry_.taken, &held_.taken, &in_flight_taken_}) {
    for (const auto& [partition, range] : *taken) {
      if (!behind_.contains(partition)) commit::AddPending(pending, partition, range.from);
    }
  }
}

commit::PendingFrom TableRun::MissingFrom() const {
  commit::PendingFrom missing = behind_;
  for (auto& [partition, from] : missing) {
    if (const auto at = positions_.find(partition); at != positions_.end())
      from = std::max(from, at->second.next);
  }
  return missing;
}

void TableRun::SetBehind(const commit::PendingFrom& behind) {
  for (const auto& [partition, from] : behind) commit::AddPending(behind_, partition, from);
}

void TableRun::Join(std::map<SourcePartition, int64_t> joins) { joins_ = std::move(joins); }

void TableRun::Joined() {
  closing_gap_ = true;
  reached_ = std::exchange(held_reached_, {});
  Status merged = carry_.Merge(std::exchange(held_, BatchPart{}));
  FIRN_CHECK(merged.ok(), "what the lanes brought lies above what the own read brought");
}

void TableRun::CloseGap() {
  closing_gap_ = gap_in_flight_ = false;
  for (const auto& [partition, from] : joins_) behind_.erase(partition);
  joins_.clear();
  trouble_until_ns_ = 0;
  Publish([](TableStatus& s) {
    s.state = PipelineState::kRunning;
    s.reason.clear();
  });
}

void TableRun::AbandonJoin() {
  if (closing_gap_) return;  // it has come there
  for (const auto& [partition, range] : held_.taken) commit::AddPending(behind_, partition, range.from);
  held_.Discard();
  joins_.clear();
}

void TableRun::Publish(const std::function<void(TableStatus&)>& change) {
  if (target_->name.empty()) return;
  services_.status.Write([&](PipelineStatus& s) {
    TableStatus& table = s.tables[target_->name];
    table.name = target_->name;
    change(table);
  });
}

}  // namespace firn::pipeline
