#include "firn/pipeline/bound_keeper.h"

#include <utility>

namespace firn::pipeline {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;

}  // namespace

BoundKeeper::BoundKeeper(std::string pipeline_id, ControlTable& control, runtime::Executor& committers,
                         runtime::Clock& clock, std::stop_token abort)
    : pipeline_id_(std::move(pipeline_id)),
      control_(control),
      committers_(committers),
      clock_(clock),
      abort_(std::move(abort)) {}

BoundKeeper::~BoundKeeper() {
  if (storing_) storing_->Wait();
}

void BoundKeeper::Adopt(const ControlTable::State& control) {
  stored_ = control.complete.value_or(commit::Complete{});
  control_uuid_ = control.uuid;
}

std::optional<commit::Complete::KnownTable> BoundKeeper::Known(const std::string& table) const {
  const auto known = stored_.tables.find(table);
  if (known == stored_.tables.end() || known->second.uuid.empty()) return std::nullopt;
  return known->second;
}

void BoundKeeper::KeepBehind(const std::string& table, const commit::PendingFrom& missing) {
  strangers_behind_[table].insert(missing.begin(), missing.end());
}

commit::Complete BoundKeeper::Ours(record::Positions bound, const std::vector<TableState>& tables) const {
  commit::Complete ours;
  ours.bound = std::move(bound);
  const auto tell = [&](const std::string& name, const commit::PendingFrom& missing) {
    for (const auto& [partition, from] : missing) {
      if (ours.bound.contains(partition)) ours.behind[name][partition] = from;
    }
  };
  for (const TableState& table : tables) {
    // What the rule made is told even before the table is there: a table that could not be made must be found
    // again when it can.
    std::string uuid = table.uuid;
    if (uuid.empty()) uuid = Known(table.name).value_or(commit::Complete::KnownTable{}).uuid;
    ours.tables[table.name] = {std::move(uuid), table.rule, table.key};
    tell(table.name, table.missing);
  }
  for (const auto& [name, missing] : strangers_behind_) tell(name, missing);
  return ours;
}

bool BoundKeeper::TakeTurn() {
  const int64_t now_ns = clock_.MonotonicNs();
  if (next_ns_ == 0) next_ns_ = now_ns + kEveryMs * kNsPerMs;
  if (storing_ || !changed_ || now_ns < next_ns_) return false;
  next_ns_ = now_ns + kEveryMs * kNsPerMs;
  changed_ = false;
  return true;
}

runtime::Future<Result<ControlTable::State>> BoundKeeper::Store(commit::Complete ours) {
  return committers_.Async(
      [this, ours = std::move(ours)] { return control_.Store(pipeline_id_, ours, abort_); });
}

void BoundKeeper::Begin(commit::Complete ours) { storing_ = Store(std::move(ours)); }

Result<std::optional<Error>> BoundKeeper::Poll() {
  std::optional<Error> trouble;
  if (!storing_ || !storing_->ready()) return trouble;
  auto stored = storing_->Get();
  storing_.reset();
  if (stored.ok()) {
    if (stored->complete) stored_ = *std::move(stored->complete);
    return trouble;
  }
  if (stored.error().retry() == RetryHint::kNo) return std::move(stored).error();
  changed_ = true;
  trouble = std::move(stored).error();
  return trouble;
}

Status BoundKeeper::StoreNow(commit::Complete ours) {
  if (storing_) {
    Ignore(storing_->Get());  // ours is newer
    storing_.reset();
  }
  if (commit::MergeComplete(stored_, ours) == stored_) return Ok();  // nothing new: the table may be away
  FIRN_ASSIGN(auto stored, Store(std::move(ours)).Get());
  if (stored.complete) stored_ = *std::move(stored.complete);
  return Ok();
}

record::Positions BoundKeeper::TakeUntold(record::Positions bound, const record::Positions& started) {
  std::erase_if(bound, [&](const auto& entry) {
    const auto begun = started.find(entry.first);
    if (begun == started.end()) return true;
    const auto told = told_.find(entry.first);
    const int64_t at = told == told_.end() ? begun->second.next : told->second.next;
    return entry.second.next <= at;
  });
  for (const auto& [partition, position] : bound) told_[partition] = position;
  return bound;
}

void BoundKeeper::Forget(const std::vector<record::SourcePartition>& partitions) {
  for (const record::SourcePartition& partition : partitions) told_.erase(partition);
}

}  // namespace firn::pipeline
