#include "firn/pipeline/table_set.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "firn/pipeline/due_tables.h"
#include "firn/runtime/memory_budget.h"

namespace firn::pipeline {

namespace {

constexpr size_t kNamedFailures = 5;

int Gravity(const Error& error) {
  if (error.kind() == ErrorKind::kDataLoss) return 3;
  const bool input = error.kind() == ErrorKind::kInvalidArgument || error.kind() == ErrorKind::kNotFound ||
                     error.kind() == ErrorKind::kUnsupported;
  return input && error.domain() == ErrorDomain::kUser ? 2 : 1;
}

}  // namespace

TableRun& TableSet::Of(const TargetPtr& target) {
  std::unique_ptr<TableRun>& table = tables_[target->id];
  if (table == nullptr) table = std::make_unique<TableRun>(target, services_);
  return *table;
}

TableRun& TableSet::Sole() const {
  const auto sole =
      std::ranges::find_if(tables_, [](const auto& entry) { return !entry.second->target()->name.empty(); });
  FIRN_CHECK(sole != tables_.end(), "the only table is opened before anything else");
  return *sole->second;
}

void TableSet::Cut(const CutOrder& order) {
  for (auto& [id, table] : tables_) {
    if (order.all || order.targets.contains(id)) table->Cut();
  }
}

Status TableSet::Take(SharedCut cut, const record::Positions& read) {
  Status status = Ok();
  for (const auto& [id, missing] : cut.left_out) {
    if (const auto table = tables_.find(id); table != tables_.end()) table->second->LeftOut(missing);
  }
  for (LaneCut::Part& part : cut.parts) {
    pipeline_records_ += part.part.records;
    Status taken = Of(part.target).Take(std::move(part.part), read);
    if (!taken.ok()) status = std::move(taken);
  }
  return status;
}

std::set<uint32_t> TableSet::Due() {
  std::vector<FillingTable> filling;
  for (auto& [id, table] : tables_) {
    const int64_t age_ms = table->AgeMs();
    if (!table->filling() || table->busy() || table->failed()) continue;
    filling.push_back({id, age_ms, table->bytes_filling(), table->OverLimits()});
  }
  const bool memory_is_short = services_.deps.memory->pressure() >= kFlushPressure;
  return DueTables(std::move(filling), services_.config.commit.interval_ms, memory_is_short);
}

Status TableSet::Submit(TableRun& table, const std::vector<commit::EndObservation>& observed) {
  const bool was_in_flight = table.in_flight();
  Status submitted = table.Submit(observed, pipeline_records_);
  if (table.target()->name.empty() && table.in_flight() && !was_in_flight) pipeline_records_ = 0;
  return submitted;
}

void TableSet::DiscardCarry() {
  for (auto& [id, table] : tables_) table->DiscardCarry();
}

bool TableSet::AnyUncommitted() const {
  return std::ranges::any_of(tables_, [](const auto& entry) {
    const TableRun& table = *entry.second;
    return !table.failed() && (table.filling() || table.in_flight());
  });
}

bool TableSet::OverLimits() const {
  return std::ranges::any_of(tables_, [](const auto& entry) { return entry.second->OverLimits(); });
}

std::vector<TableRun*> TableSet::Touching(const std::vector<record::SourcePartition>& partitions) const {
  std::vector<TableRun*> touching;
  for (const auto& [id, table] : tables_) {
    if (table->touches(partitions)) touching.push_back(table.get());
  }
  return touching;
}

commit::PendingFrom TableSet::Pending() const {
  commit::PendingFrom pending;
  for (const auto& [id, table] : tables_) table->AddPendingTo(pending);
  return pending;
}

std::vector<TableEvent> TableSet::Poll() {
  std::vector<TableEvent> events;
  for (auto& [id, table] : tables_) {
    Result<TableNews> news = table->Poll();
    if (!news.ok() || news->any()) events.push_back({table.get(), std::move(news)});
  }
  return events;
}

TableRun* TableSet::FirstRunning(bool all) const {
  const auto running = std::ranges::find_if(tables_, [all](const auto& entry) {
    return entry.second->in_flight() || (all && entry.second->busy());
  });
  return running == tables_.end() ? nullptr : running->second.get();
}

std::vector<TableFailure> TableSet::Refresh(const Patience& patience) {
  std::vector<std::pair<TableRun*, runtime::Future<Result<iceberg::LoadedTable>>>> loads;
  for (auto& [id, table] : tables_) {
    if (table->view() != nullptr && !table->failed() && !table->busy())
      loads.emplace_back(table.get(), table->Load());
  }
  std::vector<TableFailure> failures;
  for (auto& [table, load] : loads) {
    Result<iceberg::LoadedTable> loaded = load.Get();
    if (!loaded.ok() && loaded.error().retry() == RetryHint::kYes)
      loaded = CallPatiently(patience, [&run = *table] { return run.Load().Get(); });
    Status refreshed = table->Refresh(std::move(loaded));
    if (!refreshed.ok()) failures.push_back({table, std::move(refreshed).error()});
  }
  return failures;
}

bool TableSet::AnyBehind(const record::Positions& started) const {
  return std::ranges::any_of(tables_, [&](const auto& entry) {
    const TableRun& table = *entry.second;
    return !table.failed() &&
           (table.opening() || std::ranges::any_of(table.behind(), [&](const auto& missing) {
              return started.contains(missing.first);
            }));
  });
}

Status TableSet::Fail(TableRun& table, Error error) {
  if (services_.sole || table.target()->name.empty()) return error;
  const std::vector<TableConfig>& rules = services_.config.tables;
  const bool last = std::ranges::all_of(rules, [](const TableConfig& rule) { return rule.name.literal(); }) &&
                    failed_ + 1 >= rules.size();
  table.Fail(error);
  ++failed_;
  if (services_.options.fail_fast || last)
    return std::move(error).WithContext("table " + table.target()->name);
  return Ok();
}

Status TableSet::Failed() const {
  const Error* gravest = nullptr;
  for (const auto& [id, table] : tables_) {
    if (table->failed() && (gravest == nullptr || Gravity(*table->failed()) > Gravity(*gravest)))
      gravest = &*table->failed();
  }
  if (gravest == nullptr) return Ok();
  Error error = *gravest;
  return failed_ == 1 ? error : Error(error).WithContext(FailureText());
}

std::string TableSet::FailureText() const {
  if (failed_ == 0) return {};
  std::string text = fmt::format("{} of {} tables failed", failed_, tables_.size() - 1);
  size_t named = 0;
  for (const auto& [id, table] : tables_) {
    if (!table->failed()) continue;
    if (named++ == kNamedFailures) return text + "; ...";
    text +=
        fmt::format("{} {}: {}", named == 1 ? ":" : ";", table->target()->name, table->failed()->ToString());
  }
  return text;
}

int64_t TableSet::OldestAgeMs() const {
  int64_t oldest_ms = 0;
  for (const auto& [id, table] : tables_) oldest_ms = std::max(oldest_ms, table->AgeMs());
  return oldest_ms;
}

int64_t TableSet::writers_in_flight() const {
  int64_t writers = 0;
  for (const auto& [id, table] : tables_) writers += table->writers_in_flight();
  return writers;
}

}  // namespace firn::pipeline
