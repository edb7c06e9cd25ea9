#include "sim/sim_broker.h"

#include <algorithm>
#include <utility>

namespace firn::sim {

using record::SourcePartition;

namespace {

constexpr int64_t kSessionMs = 6'000;
constexpr int64_t kMostRecords = 6;

}  // namespace

// --- the group

void SimBroker::Join(SimSource* member) {
  members_.push_back(member);
  member->heard_ms = scheduler_.now_ms();
  Rebalance();
}

void SimBroker::Leave(SimSource* member) {
  std::erase(members_, member);
  for (auto& [partition, share] : shares_) {
    if (share.owner == member) {
      share.owner = nullptr;
      share.asked = false;
    }
    if (share.wanted == member) share.wanted = nullptr;
  }
  Rebalance();
}

void SimBroker::Vanish(SimSource* member) {
  for (auto& [partition, share] : shares_) {
    if (share.owner == member) share.nobody_until_ms = member->heard_ms + kSessionMs;
  }
  Leave(member);
}

void SimBroker::Released(SimSource* member, const std::vector<SourcePartition>& partitions) {
  for (const SourcePartition& partition : partitions) {
    Share& share = shares_[partition];
    if (share.owner != member) continue;
    share.owner = nullptr;
    share.asked = false;
  }
  Settle();
}

void SimBroker::Rebalance() {
  for (const SourcePartition& partition : partitions_) {
    Share& share = shares_[partition];
    share.wanted =
        members_.empty() ? nullptr : members_[static_cast<size_t>(scheduler_.Random() % members_.size())];
  }
  Settle();
}

// Owners are asked to give up; what nobody has goes to whom it is meant for.
void SimBroker::Settle() {
  std::map<SimSource*, std::vector<SourcePartition>> revoked;
  std::map<SimSource*, std::vector<SourcePartition>> assigned;
  for (auto& [partition, share] : shares_) {
    if (share.owner == share.wanted || share.asked || share.nobody_until_ms > scheduler_.now_ms()) continue;
    if (share.owner != nullptr) {
      share.asked = true;
      revoked[share.owner].push_back(partition);
    } else {
      share.owner = share.wanted;
      assigned[share.owner].push_back(partition);
    }
  }
  for (SimSource* member : members_) {  // in the order in which they came: addresses differ from run to run
    if (revoked.contains(member)) member->Tell(source::PartitionsRevoked{revoked[member], /*lost=*/false});
    if (assigned.contains(member)) member->Tell(source::PartitionsAssigned{assigned[member]});
  }
}

void SimBroker::Heard(SimSource* member) { member->heard_ms = scheduler_.now_ms(); }

void SimBroker::Expire() {
  for (SimSource* member : std::vector(members_)) {
    if (scheduler_.now_ms() - member->heard_ms <= kSessionMs) continue;
    member->out = true;
    Leave(member);
  }
  Settle();
}

// --- a member

Result<std::map<SourcePartition, source::PartitionBounds>> SimSource::ListPartitions() {
  FIRN_TRY(network_.Pass(0));
  return broker_.log().Bounds();
}

Result<std::map<SourcePartition, source::PartitionBounds>> SimSource::Bounds(
    const std::vector<SourcePartition>& partitions) {
  FIRN_ASSIGN(auto all, ListPartitions());
  std::erase_if(
      all, [&](const auto& entry) { return std::ranges::find(partitions, entry.first) == partitions.end(); });
  return all;
}

Result<record::Positions> SimSource::ResolveStart(const std::vector<SourcePartition>& partitions) {
  FIRN_ASSIGN(auto bounds, Bounds(partitions));
  record::Positions start;
  for (const auto& [partition, bound] : bounds)
    start[partition] = {bound.first, bound.identity, std::nullopt};
  return start;
}

Result<std::optional<record::Fingerprint>> SimSource::FingerprintBefore(const SourcePartition& partition,
                                                                        int64_t position) {
  FIRN_TRY(network_.Pass(0));
  return broker_.log().FingerprintAt(partition, position - 1);
}

Status SimSource::Subscribe(bool bounded) {
  FIRN_TRY(network_.Pass(0));
  if (bounded) {
    Tell(source::PartitionsAssigned{broker_.partitions()});
    held_.insert(broker_.partitions().begin(), broker_.partitions().end());  // its reader need not ask
  } else {
    member_ = true;
    broker_.Join(this);
  }
  return Ok();
}

Result<std::vector<source::SourceEvent>> SimSource::PollControl(int timeout_ms) {
  constexpr int64_t kBusy = 12;
  if (timeout_ms > 0) network_.scheduler().SleepFor(network_.scheduler().Between(1, timeout_ms * kBusy));
  if (process_->dead) return std::vector<source::SourceEvent>{};
  if (out) {
    out = false;
    events_.clear();
    events_.emplace_back(source::PartitionsRevoked{{held_.begin(), held_.end()}, /*lost=*/true});
    rejoins_ = true;
  } else if (std::exchange(rejoins_, false)) {
    broker_.Join(this);
  } else if (member_) {
    broker_.Heard(this);
  }
  for (const source::SourceEvent& event : events_) {
    if (const auto* assigned = std::get_if<source::PartitionsAssigned>(&event))
      held_.insert(assigned->partitions.begin(), assigned->partitions.end());
  }
  return std::exchange(events_, {});
}

Status SimSource::Start(const record::Positions& positions) {
  for (const auto& [partition, position] : positions) {
    if (held_.contains(partition)) next_[partition] = position.next;
  }
  return Ok();
}

Status SimSource::Release(const std::vector<SourcePartition>& partitions) {
  for (const SourcePartition& partition : partitions) {
    next_.erase(partition);
    held_.erase(partition);
  }
  if (member_ && !process_->dead) broker_.Released(this, partitions);
  return Ok();
}

void SimSource::Acknowledge(const record::Positions& /*positions*/, const std::string& note) {
  if (!process_->dead) broker_.log().SetGroupNote(note);
}

void SimSource::Close() {
  if (!std::exchange(member_, false)) return;
  process_->dead ? broker_.Vanish(this) : broker_.Leave(this);
}

Result<std::vector<record::RawBatch>> SimSource::Poll(int lane, const source::PollBudget& budget) {
  Scheduler& scheduler = network_.scheduler();
  scheduler.SleepFor(scheduler.Between(0, 20));
  std::vector<record::RawBatch> batches;
  for (auto& [partition, next] : next_) {
    if (partition.partition % lanes_ != lane || scheduler.OneIn(3)) continue;
    if (auto raw =
            broker_.log().Read(partition, next, static_cast<size_t>(scheduler.Between(1, kMostRecords)))) {
      next = raw->range.to;
      batches.push_back(*std::move(raw));
    }
  }
  if (batches.empty()) scheduler.SleepFor(scheduler.Between(1, budget.timeout_ms * 8));
  return batches;
}

}  // namespace firn::sim
