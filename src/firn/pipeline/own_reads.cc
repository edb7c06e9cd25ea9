#include "firn/pipeline/own_reads.h"

#include <algorithm>
#include <utility>

#include "firn/obs/log.h"

namespace firn::pipeline {

namespace {

constexpr size_t kAtATime = 2;

}  // namespace

OwnReads::OwnReads(const PipelineDeps& deps, const LaneMaker& maker, runtime::Executor& committers,
                   std::string pipeline_id)
    : deps_(deps), maker_(maker), committers_(committers), pipeline_id_(std::move(pipeline_id)) {}

OwnReads::~OwnReads() {
  for (auto& [id, own] : reads_) {
    if (own.connecting) own.connecting->Wait();
  }
}

// Where the table's records are missing from, with its own positions where it stands just there.
record::Positions OwnReads::From(const TableRun& table, const record::Positions& started) {
  record::Positions from;
  for (const auto& [partition, next] : table.MissingFrom()) {
    const auto ours = started.find(partition);
    if (ours == started.end()) continue;
    const auto at = table.positions().find(partition);
    from[partition] = at != table.positions().end() && at->second.next == next
                          ? at->second
                          : record::PartitionPosition{next, ours->second.identity, {}};
  }
  return from;
}

void OwnReads::Begin(const TableSet& tables, const record::Positions& started) {
  for (const auto& [id, table] : tables.all()) {
    if (reads_.size() >= kAtATime) return;
    if (table->behind().empty() || table->failed() || !table->opened() || reads_.contains(id) ||
        table->joining() || table->target()->name.empty()) {
      continue;
    }
    record::Positions from = From(*table, started);
    if (from.empty()) continue;
    OwnRead& own = reads_[id];
    own.table = table.get();
    own.from = std::move(from);
    table->ShowTrouble(Error(ErrorKind::kUnavailable, "catches up with what it missed while it had failed"));
    own.connecting =
        committers_.Async([&deps = deps_, from = own.from] { return CatchUp::Connect(deps, from); });
  }
}

std::vector<OwnReadNews> OwnReads::Serve(const record::Positions& shared) {
  std::vector<OwnReadNews> all;
  for (auto it = reads_.begin(); it != reads_.end();) {
    OwnRead& own = it->second;
    OwnReadNews news;
    news.table = own.table;
    if (own.read == nullptr && !FinishConnecting(own, news)) {
      it = own.connecting ? std::next(it) : reads_.erase(it);  // begun again when it may be tried again
      if (news.failed) all.push_back(std::move(news));
      continue;
    }
    Status served = ServeOne(own, shared, news);
    if (!served.ok()) news.failed = std::move(served).error();
    all.push_back(std::move(news));
    ++it;
  }
  return all;
}

bool OwnReads::FinishConnecting(OwnRead& own, OwnReadNews& news) {
  if (!own.connecting->ready()) return false;
  auto source = own.connecting->Get();
  own.connecting.reset();
  if (!source.ok()) {
    if (source.error().retry() == RetryHint::kNo) news.failed = std::move(source).error();
    return false;
  }
  Status reading = StartReading(own, std::move(source).value());
  if (!reading.ok()) news.failed = std::move(reading).error();
  return own.read != nullptr;
}

Status OwnReads::StartReading(OwnRead& own, std::unique_ptr<source::Source> source) {
  const uint32_t id = own.table->target()->id;
  FIRN_ASSIGN(auto lane, maker_.ForOne(id, *source));
  own.read = std::make_unique<CatchUp>(std::move(source), own.from);
  own.read->Start(std::move(lane), id, {own.table->view(), nullptr});
  obs::Log(
      obs::Level::kInfo, "table catches up by a read of its own",
      {{"pipeline", pipeline_id_}, {"table", own.table->target()->name}, {"partitions", own.from.size()}});
  return Ok();
}

Status OwnReads::ServeOne(OwnRead& own, const record::Positions& shared, OwnReadNews& news) {
  FIRN_TRY(own.read->Serve());
  news.requests = own.read->TakeRequests();
  if (!own.read->joined()) {
    if (own.read->Near(shared)) news.stage = OwnReadNews::Stage::kNear;
  } else if (own.read->Reached()) {
    news.stage = OwnReadNews::Stage::kReached;
  }
  return Ok();
}

std::vector<uint32_t> OwnReads::tables() const {
  std::vector<uint32_t> tables;
  for (const auto& [id, own] : reads_) tables.push_back(id);
  return tables;
}

void OwnReads::Offer(const TableRun& table) {
  const auto own = reads_.find(table.target()->id);
  if (own != reads_.end() && own->second.read != nullptr)
    own->second.read->Offer(table.target(), {table.Offer().view, nullptr});
}

Status OwnReads::CutInto(TableRun& table, bool pause) {
  const auto own = reads_.find(table.target()->id);
  if (own == reads_.end() || own->second.read == nullptr) return Ok();
  CatchUp& read = *own->second.read;
  FIRN_ASSIGN(auto part, read.Cut(table.target(), pause));
  return table.Take(std::move(part), read.positions());
}

void OwnReads::Join(TableRun& table, const record::Positions& shared) {
  table.Join(reads_.at(table.target()->id).read->Join(shared));
}

TableRun* OwnReads::GiveUp(OwnRead& own) {
  if (own.connecting) own.connecting->Wait();
  own.read.reset();
  own.table->AbandonJoin();
  return own.table;
}

std::vector<TableRun*> OwnReads::GiveUp(const std::vector<record::SourcePartition>& partitions) {
  std::vector<TableRun*> tables;
  for (auto it = reads_.begin(); it != reads_.end();) {
    OwnRead& own = it->second;
    if (std::ranges::none_of(partitions,
                             [&](const auto& partition) { return own.from.contains(partition); })) {
      ++it;
      continue;
    }
    tables.push_back(GiveUp(own));
    it = reads_.erase(it);
  }
  return tables;
}

std::vector<TableRun*> OwnReads::GiveUpAll() {
  std::vector<TableRun*> tables;
  for (auto& [id, own] : reads_) tables.push_back(GiveUp(own));
  reads_.clear();
  return tables;
}

}  // namespace firn::pipeline
