#include "firn/pipeline/table_fill.h"

#include <algorithm>
#include <set>
#include <utility>

namespace firn::pipeline {

using record::SourcePartition;

TableFill::~TableFill() {
  carry_.Discard();
  held_.Discard();
}

Status TableFill::Take(BatchPart part, const record::Positions& read, const record::Positions& table) {
  record::Positions reached;
  for (const auto& [partition, position] : read) {
    if (part.taken.contains(partition) || carry_.taken.contains(partition) || table.contains(partition))
      reached.emplace(partition, position);
  }
  const bool above_join =
      !joins_.empty() && !closing_seam_ && !part.own_read &&
      std::ranges::any_of(part.taken, [&](const auto& entry) { return joins_.contains(entry.first); });
  BatchPart& to = above_join ? held_ : carry_;
  (above_join ? held_reached_ : reached_) = std::move(reached);
  return to.Merge(std::move(part));
}

void TableFill::Refuse(BatchPart part) {
  commit::AddPending(behind_, part.taken);
  part.Discard();
}

void TableFill::LeftOut(const commit::PendingFrom& missing) {
  for (const auto& [partition, from] : missing) commit::AddPending(behind_, partition, from);
}

void TableFill::ForgetUnsettled() {
  carry_.unsettled.clear();
  held_.unsettled.clear();
}

void TableFill::Discard() {
  carry_.Discard();
  held_.Discard();
  // The end of an own read may have been in there: the table is as far behind as before.
  closing_seam_ = seam_in_flight_ = false;
  joins_.clear();
}

TableFill::Batch TableFill::TakeBatch(const record::Positions& table) {
  std::set<SourcePartition> apart = carry_.unsettled;
  for (const auto& [partition, from] : behind_) apart.insert(partition);
  Batch batch;
  batch.ranges = commit::JoinTableRanges(table, carry_.taken, reached_, apart);
  batch.part = std::exchange(carry_, BatchPart{});
  in_flight_taken_ = batch.part.taken;
  seam_in_flight_ = closing_seam_;
  return batch;
}

bool TableFill::Committed() {
  in_flight_taken_.clear();
  if (!seam_in_flight_) return false;
  CloseSeam();
  return true;
}

bool TableFill::CloseEmptySeam() {
  if (!closing_seam_ || carry_.worth_committing()) return false;
  CloseSeam();
  return true;
}

void TableFill::CloseSeam() {
  closing_seam_ = seam_in_flight_ = false;
  for (const auto& [partition, from] : joins_) behind_.erase(partition);
  joins_.clear();
}

void TableFill::MissAll() {
  for (const record::PositionRanges* taken : {&carry_.taken, &held_.taken, &in_flight_taken_})
    commit::AddPending(behind_, *taken);
  in_flight_taken_.clear();
  Discard();
}

bool TableFill::touches(const std::vector<SourcePartition>& partitions) const {
  return std::ranges::any_of(partitions, [&](const SourcePartition& partition) {
    return carry_.taken.contains(partition) || held_.taken.contains(partition) ||
           in_flight_taken_.contains(partition);
  });
}

void TableFill::AddPendingTo(commit::PendingFrom& pending) const {
  for (const record::PositionRanges* taken : {&carry_.taken, &held_.taken, &in_flight_taken_}) {
    for (const auto& [partition, range] : *taken) {
      if (!behind_.contains(partition)) commit::AddPending(pending, partition, range.from);
    }
  }
}

commit::PendingFrom TableFill::MissingFrom(const record::Positions& table) const {
  commit::PendingFrom missing = behind_;
  for (auto& [partition, from] : missing) {
    if (const auto at = table.find(partition); at != table.end()) from = std::max(from, at->second.next);
  }
  return missing;
}

std::shared_ptr<const TakesFromMap> TableFill::TakesFrom(const record::Positions& table) const {
  auto takes_from = std::make_shared<TakesFromMap>();
  for (const auto& [partition, position] : table) (*takes_from)[partition] = position.next;
  for (const auto& [partition, from] : behind_) {
    const auto joins = joins_.find(partition);
    (*takes_from)[partition] = joins == joins_.end() ? kTakesNothing : joins->second;
  }
  return takes_from;
}

void TableFill::Joined() {
  closing_seam_ = true;
  reached_ = std::exchange(held_reached_, {});
  Status merged = carry_.Merge(std::exchange(held_, BatchPart{}));
  FIRN_CHECK(merged.ok(), "what the lanes brought lies above what the own read brought");
}

void TableFill::AbandonJoin() {
  if (closing_seam_) return;  // it has come there
  commit::AddPending(behind_, held_.taken);
  held_.Discard();
  joins_.clear();
}

}  // namespace firn::pipeline
