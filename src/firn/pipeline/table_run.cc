#include "firn/pipeline/table_run.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "firn/commit/protocol/progress.h"
#include "firn/pipeline/schema_change.h"
#include "firn/pipeline/table_definition.h"
#include "firn/pipeline/table_setup.h"

namespace firn::pipeline {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kRetryOpenMs = 500;

// Only what lanes and writers look at; positions and snapshots change with every commit.
bool SameForLanes(const iceberg::TableMetadata& a, const iceberg::TableMetadata& b) {
  if (a.format_version != b.format_version || a.current_schema_id != b.current_schema_id ||
      a.default_spec_id != b.default_spec_id || a.default_sort_order_id != b.default_sort_order_id ||
      a.location != b.location || a.table_uuid != b.table_uuid) {
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
bool Ready(const std::optional<runtime::Future<T>>& future) {
  return future && future->ready();
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
      config_(ConfigOf(services.config, *target_)),
      progress_(services.config.id, target_->name, services.sole, services.status, services.metrics,
                *services.deps.metrics, clock_),
      dead_letter_limit_(services.config.dead_letters) {}

TableRun::~TableRun() {
  if (in_flight_) in_flight_->Wait();
  if (open_) open_->Wait();
  if (change_) change_->Wait();
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
  progress_.Running();
  TableNews news;
  return Adopt(opened.table, news);
}

void TableRun::Open(OpenOrder order) {
  open_order_ = std::move(order);
  StartOpening();
}

void TableRun::StartOpening() {
  retry_open_ns_ = 0;
  open_ = services_.committers.Async([this]() -> Result<TableOpened> {
    if (committer_ == nullptr) FIRN_TRY(MakeCommitter());
    const OpenContext context{catalog_.get(),  committer_.get(),   &services_.config, &config_,
                              &services_.deps, &services_.options, services_.abort};
    return OpenTable(context, open_order_);
  });
}

runtime::Future<Result<iceberg::LoadedTable>> TableRun::Load() {
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
  if (retry_open_ns_ > 0 && clock_.MonotonicNs() >= retry_open_ns_) StartOpening();
  if (Ready(open_)) FIRN_TRY(PollOpen(news));
  if (Ready(in_flight_)) {
    BatchReport report = in_flight_->Get();
    in_flight_.reset();
    writers_in_flight_ = 0;
    FIRN_TRY(OnReport(std::move(report), news));
  }
  if (Ready(change_)) FIRN_TRY(PollChange(news));
  if (!in_flight_ && fill_.CloseEmptySeam()) progress_.Running();
  if (!busy() && !wanted_.empty() && !failed_) StartChange();
  if (!failed_) progress_.ForgetOldTrouble();
  return news;
}

Status TableRun::PollOpen(TableNews& news) {
  auto opened = open_->Get();
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
  progress_.Opened(opened->how, opened->notes);
  progress_.At(opened->table, positions_);
  progress_.Running();
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
  auto changed = change_->Get();
  change_.reset();
  if (failed_) return Ok();
  if (!changed.ok()) {
    if (!OfTheProcess(changed.error())) return std::move(changed).error();
    news.fatal = std::move(changed).error();
    return Ok();
  }
  if (!changed->summary.empty()) progress_.SchemaChanged(changed->summary);
  for (const record::RefusedChange& refused : changed->refused) {
    progress_.ChangeRefused(refused);
    refused_changes_.push_back(refused);
  }
  FIRN_TRY(View(changed->table));
  news.view_changed = true;
  return Ok();
}

Status TableRun::Adopt(const iceberg::LoadedTable& table, TableNews& news) {
  progress_.At(table, positions_);
  if (view_ && SameForLanes(*view_->table.metadata, *table.metadata)) return Ok();
  news.view_changed = true;
  refused_changes_.clear();  // what the table could not take it may be able to take now
  return View(table);
}

Status TableRun::View(const iceberg::LoadedTable& table) {
  FIRN_TRY(
      CheckDeclaredColumns(config_, *table.metadata));  // as at the start: another engine may have altered it
  FIRN_ASSIGN(auto bound, BindSchema(services_.config, config_, *table.metadata, services_.deps.pool));
  bound.refused = refused_changes_;
  view_ = std::make_shared<TableView>(TableView{table, std::move(bound), view_ ? view_->version + 1 : 0});
  return Ok();
}

TableOffer TableRun::Offer() const {
  if (failed_ || view_ == nullptr) return {};
  return {view_, fill_.TakesFrom(positions_)};
}

Status TableRun::Take(BatchPart part, const record::Positions& read) {
  if (failed_) {
    fill_.Refuse(std::move(part));
    return Ok();
  }
  return fill_.Take(std::move(part), read, positions_);
}

bool TableRun::OverLimits() const {
  const int64_t records = target_->records.load(std::memory_order_relaxed) + carry().records;
  const int64_t letters =
      target_->letter_bytes.load(std::memory_order_relaxed) + carry().dead_letter_memory.bytes();
  return records > 0 && (records >= services_.config.commit.max_records ||
                         bytes_filling() >= services_.config.commit.max_input_bytes ||
                         letters >= MaxLetterBytes(*services_.deps.memory));
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
  fill_.ForgetUnsettled();
}

Status TableRun::Submit(const std::vector<commit::EndObservation>& observed, int64_t pipeline_records) {
  if (busy() || failed_ || !carry().worth_committing()) return Ok();
  const bool letters_only = target_->name.empty();
  FIRN_TRY(dead_letter_limit_.Check(carry(), letters_only ? pipeline_records : carry().records));
  const BatchCommitContext context{committer_.get(),
                                   &services_.control,
                                   LettersId(services_.config.id, target_->name, services_.sole),
                                   &services_.io,
                                   &clock_,
                                   progress_.MayAskMetadataSize()};
  auto batch = std::make_shared<TableFill::Batch>(fill_.TakeBatch(positions_));
  writers_in_flight_ = static_cast<int64_t>(batch->part.writers.size());
  in_flight_ = services_.committers.Async(
      [batch, reachable = Reachable(observed, batch->ranges), context, abort = services_.abort] {
        return CommitPart(std::move(batch->part), batch->ranges, reachable, context, abort);
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

void TableRun::DiscardCarry() {
  fill_.Discard();
  batch_begin_ns_ = 0;
}

void TableRun::WaitFor(int64_t ms) const {
  if (in_flight_) {
    in_flight_->WaitFor(ms);
  } else if (change_) {
    change_->WaitFor(ms);
  } else if (open_) {
    open_->WaitFor(ms);
  }
}

Status TableRun::OnReport(BatchReport report, TableNews& news) {
  progress_.Batch(report, filled_ms_);
  if (report.failed) {
    if (!report.letters_failed && !OfTheProcess(*report.failed)) return *std::move(report.failed);
    news.fatal = std::move(report.failed);
    return Ok();
  }
  if (!report.outcome) {  // letters alone
    fill_.Dropped();
    news.committed = true;
    progress_.LettersCommitted(report);
    return Ok();
  }
  if (auto* done = std::get_if<commit::Committed>(&*report.outcome)) {
    epoch_ = done->epoch;
    news.valid_through_ms = done->valid_through_ms;
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
  if (!rejected.fence && !rejected.altered) return std::move(rejected.error);
  fill_.Dropped();  // read again
  news.refused = std::move(rejected);
  return Ok();
}

Status TableRun::OnCommitted(const BatchReport& report, const iceberg::LoadedTable& table,
                             int64_t snapshot_id, TableNews& news) {
  news.committed = true;
  positions_ = PositionsIn(*table.metadata, services_.config, config_);
  progress_.Committed(report, table, snapshot_id, epoch_);
  if (fill_.Committed()) progress_.Running();
  return Adopt(table, news);
}

void TableRun::Fail(Error error) {
  fill_.MissAll();
  wanted_.clear();
  retry_open_ns_ = 0;
  batch_begin_ns_ = 0;
  progress_.Failed(error);
  failed_ = std::move(error);
}

}  // namespace firn::pipeline
