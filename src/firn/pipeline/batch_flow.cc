#include "firn/pipeline/batch_flow.h"

#include <algorithm>
#include <utility>

#include "firn/commit/protocol/resume.h"
#include "firn/obs/log.h"
#include "firn/pipeline/sample.h"
#include "firn/runtime/fault_point.h"

namespace firn::pipeline {

namespace {

using record::SourcePartition;

constexpr int kWaitMs = 10;
constexpr int64_t kNsPerMs = 1'000'000;

Status AfterGroupOffsets() {
  FIRN_FAULT_POINT(group_offsets_after_commit);
  return Ok();
}

}  // namespace

BatchFlow::BatchFlow(const TableServices& services, TargetBook& book,
                     std::shared_ptr<const route::Router> router, ProgressView& view)
    : services_(services),
      book_(book),
      view_(view),
      maker_(services.config, services.deps, std::move(router), book),
      tables_(services),
      own_reads_(services.deps, maker_, services.committers, services.config.id),
      bound_(services.config.id, services.control, services.committers, *services.deps.clock,
             services.abort) {
  tables_.Of(book.unrouted());
}

// Lanes first: nothing may come to the tables any more when these wait for what they began.
BatchFlow::~BatchFlow() { lanes_.Stop(); }

Status BatchFlow::OpenSole(const TargetPtr& only, const InferColumns& infer) {
  return tables_.Of(only).OpenNow(infer);
}

Status BatchFlow::Start(source::Source& source) {
  source_ = &source;
  FIRN_TRY(lanes_.Start(maker_, source, services_.deps.lanes));
  if (services_.sole) Offer(tables_.Sole());
  return Ok();
}

// --- once a turn

Status BatchFlow::ServeLanes() {
  if (auto error = lanes_.error()) return *std::move(error);
  for (const TableRequest& request : lanes_.TakeRequests()) FIRN_TRY(ServeRequest(request));
  return Ok();
}

Status BatchFlow::ServeRequest(const TableRequest& request) {
  if (request.target == nullptr) {
    view_.Trouble(*request.error);
    return Ok();
  }
  TableRun& table = tables_.Of(request.target);
  switch (request.kind) {
    case TableRequest::Kind::kOpen:
      if (table.opened() || table.failed()) {
        Offer(table);
      } else if (!table.opening()) {
        table.Open({[sample = request.sample]() -> Result<SampleRecords> { return sample; },
                    bound_.Known(request.target->name), ClusterId()});
      }
      return Ok();
    case TableRequest::Kind::kChange:
      if (!table.failed() && table.Want(request)) Offer(table);
      return Ok();
    case TableRequest::Kind::kTrouble:
      table.ShowTrouble(*request.error);
      if (services_.sole) view_.Trouble(*request.error);
      return Ok();
    case TableRequest::Kind::kFailed:
      return table.failed() ? Ok() : TableFailed(table, *request.error);
  }
  return Ok();
}

Status BatchFlow::PollTables() {
  std::vector<TableEvent> events = tables_.Poll();
  // Before anything is acknowledged: what was refused is read again.
  for (const TableEvent& event : events) {
    if (event.news.ok() && event.news->refused && !(refused_ && refused_->fence))
      refused_ = event.news->refused;
  }
  for (TableEvent& event : events) FIRN_TRY(Heed(*event.table, std::move(event.news)));
  return Ok();
}

Status BatchFlow::Heed(TableRun& table, Result<TableNews> news) {
  if (!news.ok()) return table.failed() ? Ok() : TableFailed(table, std::move(news).error());
  if (news->fatal) return *std::move(news->fatal);
  if (news->opened) bound_.Changed();
  if (news->view_changed) Offer(table);
  if (!news->committed) return Ok();
  bound_.Changed();
  if (services_.sole && news->valid_through_ms > 0) {  // that of one table of many says nothing of the others
    ends_.ForgetThrough(news->valid_through_ms);
    view_.ValidThrough(news->valid_through_ms);
  }
  Acknowledge();
  return AfterGroupOffsets();
}

// The table leaves the shared read; the others go on. Where nothing else can come, the run ends.
Status BatchFlow::TableFailed(TableRun& table, Error error) {
  Status ends = tables_.Fail(table, std::move(error));
  if (!table.failed()) return ends;
  own_reads_.End(table.target()->id);
  Offer(table);
  bound_.Changed();
  return ends;
}

void BatchFlow::Offer(const TableRun& table) {
  if (table.target()->name.empty() || (!table.opened() && !table.failed())) return;
  lanes_.Offer(table.target()->id, table.Offer());
  own_reads_.Offer(table);
}

// Group offsets, for people: below them everything is committed, whatever the table.
void BatchFlow::Acknowledge() {
  if (read_is_ahead()) return;
  const record::Positions untold = bound_.TakeUntold(lanes_.Bound(tables_.Pending()), started_);
  if (untold.empty()) return;
  std::string uuid = bound_.control_uuid();
  int64_t epoch = 0;
  if (services_.sole) {
    uuid = tables_.Sole().uuid();
    epoch = tables_.Sole().epoch();
  }
  source_->Acknowledge(untold, commit::GroupNote(uuid, epoch));
}

Status BatchFlow::CutDue() {
  std::set<uint32_t> due = tables_.Due();
  if (due.empty()) return Ok();
  for (const uint32_t id : own_reads_.tables()) {
    if (due.contains(id)) FIRN_TRY(own_reads_.CutInto(tables_.At(id), /*pause=*/false));
  }
  FIRN_TRY(Cut({.all = false, .targets = std::move(due), .pause = false}));
  return SubmitAll();
}

// At most once a minute, when something was committed since.
Status BatchFlow::ServeBound() {
  if (services_.sole) return Ok();
  FIRN_ASSIGN(auto trouble, bound_.Poll());
  if (trouble) view_.Trouble(*trouble);
  if (started_.empty() || read_is_ahead() || !bound_.TakeTurn()) return Ok();
  FIRN_TRY(Cut({.all = false, .targets = {}, .pause = false}));  // how far the read has come by now
  bound_.Begin(OursComplete());
  return Ok();
}

commit::Complete BatchFlow::OursComplete() const {
  std::vector<BoundKeeper::TableState> tables;
  for (const auto& [id, table] : tables_.all()) {
    const TargetPtr& target = table->target();
    if (target->name.empty()) continue;
    tables.push_back({target->name, table->uuid(), services_.config.tables.at(target->rule).name.ToString(),
                      target->key, table->MissingFrom()});
  }
  return bound_.Ours(lanes_.Bound(tables_.Pending()), tables);
}

Status BatchFlow::StoreBound() {
  return services_.sole || started_.empty() || read_is_ahead() ? Ok() : bound_.StoreNow(OursComplete());
}

void BatchFlow::ServePressure() {
  const bool over =
      services_.deps.memory->pressure() >= kFlushPressure || (services_.sole && tables_.OverLimits());
  const bool hold = over && AnyInFlight();
  if (hold != held_) lanes_.Hold(hold);
  held_ = hold;
}

// --- catching up

Status BatchFlow::ServeOwnReads() {
  if (services_.sole) return Ok();
  own_reads_.Begin(tables_, started_);
  for (OwnReadNews& news : own_reads_.Serve(lanes_.read())) FIRN_TRY(ServeOwnRead(news));
  return Ok();
}

Status BatchFlow::ServeOwnRead(OwnReadNews& news) {
  TableRun& table = *news.table;
  if (news.failed) return TableFailed(table, *std::move(news.failed));
  for (const TableRequest& request : news.requests) FIRN_TRY(ServeRequest(request));
  if (table.failed() || news.stage == OwnReadNews::Stage::kReading) return Ok();
  Status taken = own_reads_.CutInto(table, /*pause=*/true);
  if (!taken.ok()) return TableFailed(table, std::move(taken).error());
  return news.stage == OwnReadNews::Stage::kNear ? JoinRead(table) : EndRead(table);
}

// Both reads stand still: from where the further one is, the lanes give the table its records again.
Status BatchFlow::JoinRead(TableRun& table) {
  FIRN_TRY(Cut({.all = false, .targets = {}, .pause = true}));
  own_reads_.Join(table, lanes_.read());
  Offer(table);
  lanes_.Resume(/*drop_waiting=*/false);
  return Ok();
}

Status BatchFlow::EndRead(TableRun& table) {
  table.Joined();
  own_reads_.End(table.target()->id);
  Offer(table);
  bound_.Changed();
  obs::Log(obs::Level::kInfo, "table has caught up",
           {{"pipeline", services_.config.id}, {"table", table.target()->name}});
  return Ok();
}

// --- barriers

Status BatchFlow::Cut(const CutOrder& order) {
  tables_.Cut(order);
  SharedCut cut = lanes_.Cut(order);
  if (!cut.left_out.empty()) bound_.Changed();
  Status joins = std::move(cut.joins);
  Status taken = tables_.Take(std::move(cut), lanes_.read());
  return joins.ok() ? std::move(taken) : std::move(joins);
}

Status BatchFlow::CutOwnReads(bool pause) {
  for (const uint32_t id : own_reads_.tables()) FIRN_TRY(own_reads_.CutInto(tables_.At(id), pause));
  return Ok();
}

Status BatchFlow::SubmitAll() {
  if (read_is_ahead()) return Ok();  // what is filled stands behind a gap
  const auto observed = services_.sole ? ends_.all() : ends_.PassedBy(lanes_.read());
  for (const auto& [id, table] : tables_.all()) {
    Status submitted = tables_.Submit(*table, observed);
    if (!submitted.ok()) FIRN_TRY(TableFailed(*table, std::move(submitted).error()));
  }
  return Ok();
}

Status BatchFlow::Await(int64_t bound_ms, bool all) {
  runtime::Clock& clock = *services_.deps.clock;
  const int64_t end_ns = clock.MonotonicNs() + bound_ms * kNsPerMs;
  for (;;) {
    FIRN_TRY(PollTables());
    const TableRun* running = tables_.FirstRunning(all);
    if (running == nullptr || clock.MonotonicNs() >= end_ns || services_.abort.stop_requested()) return Ok();
    running->WaitFor(kWaitMs);
  }
}

Status BatchFlow::DiscardFilling() {
  FIRN_TRY(Cut({.all = true, .targets = {}, .pause = true}));
  tables_.DiscardCarry();
  read_is_ahead_ = true;
  return Ok();
}

void BatchFlow::Resume(bool drop_waiting) {
  if (drop_waiting) read_is_ahead_ = false;
  lanes_.Resume(drop_waiting);
}

// --- partitions

void BatchFlow::AdoptControl(const ControlTable::State& control,
                             const std::vector<SourcePartition>& partitions) {
  bound_.Adopt(control);
  for (const auto& [name, known] : bound_.stored().tables) book_.Remember(name, known);
  for (const auto& [name, pending] : bound_.stored().behind) {
    commit::PendingFrom missing;
    for (const SourcePartition& partition : partitions) {
      if (const auto it = pending.find(partition); it != pending.end()) missing.insert(*it);
    }
    if (missing.empty()) continue;
    const auto known = bound_.stored().tables.find(name);
    const TargetPtr target = book_.Remember(
        name, known == bound_.stored().tables.end() ? commit::Complete::KnownTable{} : known->second);
    if (target == nullptr) {
      bound_.KeepBehind(name, missing);
    } else {
      OpenBehind(target, missing);
    }
  }
}

// Of a table that could not be made in an earlier run the columns come from where its records are missing.
void BatchFlow::OpenBehind(const TargetPtr& target, const commit::PendingFrom& missing) {
  TableRun& table = tables_.Of(target);
  const bool fresh = !table.opened() && !table.busy() && !table.failed();
  table.LeftOut(missing);
  if (!fresh) return;
  const record::Positions& bound = bound_.stored().bound;
  table.Open({[this, target, missing] { return SampleOfTable(services_.deps, maker_, target, missing); },
              bound_.Known(target->name), bound.empty() ? "" : bound.begin()->second.identity.cluster_id});
}

Status BatchFlow::Refresh(const Patience& patience) {
  for (TableFailure& failure : tables_.Refresh(patience))
    FIRN_TRY(TableFailed(*failure.table, std::move(failure.error)));
  return Ok();
}

void BatchFlow::StartAt(const record::Positions& positions) {
  lanes_.StartAt(positions);
  for (const auto& [partition, position] : positions) started_[partition] = position;
  for (const auto& [id, table] : tables_.all()) Offer(*table);
}

void BatchFlow::Forget(const std::vector<SourcePartition>& partitions) {
  for (const SourcePartition& partition : partitions) started_.erase(partition);
  bound_.Forget(partitions);
  for (const TableRun* table : own_reads_.GiveUp(partitions)) Offer(*table);
  lanes_.ForgetRead(partitions);
}

void BatchFlow::GiveUpOwnReads() {
  for (const TableRun* table : own_reads_.GiveUpAll()) Offer(*table);
}

// --- how it stands

bool BatchFlow::Settled() const {
  return own_reads_.empty() && !lanes_.waiting() && !tables_.AnyBehind(started_);
}

std::map<SourcePartition, int64_t> BatchFlow::CommittedPositions() const {
  auto positions = ReadPositions();  // before it is asked what waits and fills: see Lane::Dispatch
  if (!lanes_.waiting() && !tables_.AnyUncommitted()) return positions;
  const record::Positions bound = lanes_.Bound(tables_.Pending());
  for (auto& [partition, next] : positions) {
    if (const auto at = bound.find(partition); at != bound.end()) next = std::min(next, at->second.next);
  }
  return positions;
}

int64_t BatchFlow::ValidThrough(const std::map<SourcePartition, int64_t>& committed) const {
  if (read_is_ahead() || !tables_.Failed().ok() || tables_.AnyBehind(started_)) return 0;
  record::Positions at;
  for (const auto& [partition, next] : committed) at[partition].next = next;
  const auto passed = ends_.PassedBy(at);
  return passed.empty() ? 0 : passed.front().time_ms;
}

ProgressView::Counters BatchFlow::Counters() const {
  return {.rows = lanes_.rows_total(),
          .bytes = lanes_.bytes_total(),
          .open_files = lanes_.filling_tables() + tables_.writers_in_flight(),
          .filling_ms = tables_.OldestAgeMs(),
          .prefetched_bytes = source_->prefetched_bytes(),
          .failures = tables_.FailureText()};
}

std::string BatchFlow::ClusterId() const {
  return started_.empty() ? "" : started_.begin()->second.identity.cluster_id;
}

}  // namespace firn::pipeline
