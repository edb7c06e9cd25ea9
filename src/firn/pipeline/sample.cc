#include "firn/pipeline/sample.h"

#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "firn/pipeline/catch_up.h"
#include "firn/pipeline/patience.h"

namespace firn::pipeline {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int kPollMs = 100;
constexpr int64_t kTableSampleRecords = 10'000;
constexpr int64_t kTableSampleWaitMs = 10'000;

}  // namespace

Result<std::vector<record::RawBatch>> ReadSample(source::Source& source, const record::Positions& positions,
                                                 int64_t records, int64_t wait_ms, runtime::Clock& clock) {
  std::vector<record::SourcePartition> partitions;
  for (const auto& [partition, position] : positions) partitions.push_back(partition);
  FIRN_ASSIGN(auto bounds, source.Bounds(partitions));
  std::set<record::SourcePartition> open;
  for (const auto& [partition, bound] : bounds) {
    if (!bound.end || positions.at(partition).next < *bound.end) open.insert(partition);
  }
  std::map<record::SourcePartition, int64_t> reached;
  for (const auto& [partition, position] : positions) reached[partition] = position.next;
  FIRN_TRY(source.Start(positions));
  std::vector<record::RawBatch> sample;
  int64_t taken = 0;
  const int64_t end_ns = clock.MonotonicNs() + wait_ms * kNsPerMs;
  while (taken < records && !open.empty() && clock.MonotonicNs() < end_ns) {
    FIRN_ASSIGN(auto events, source.PollControl(0));
    for (const auto& event : events) {
      if (const auto* trouble = std::get_if<source::SourceTrouble>(&event);
          trouble != nullptr && trouble->error.retry() == RetryHint::kNo) {
        return trouble->error;
      }
      if (const auto* ended = std::get_if<source::PartitionEnded>(&event)) {
        source::PartitionBounds& bound = bounds[ended->partition];
        bound.end = ended->end;
        if (reached[ended->partition] >= ended->end) open.erase(ended->partition);
      }
    }
    source::PollBudget budget;
    budget.timeout_ms = kPollMs;
    budget.max_records = static_cast<size_t>(records - taken);
    FIRN_ASSIGN(auto polled, source.Poll(0, budget));
    for (record::RawBatch& raw : polled) {
      taken += static_cast<int64_t>(raw.size());
      reached[raw.partition] = raw.range.to;
      if (const auto& end = bounds[raw.partition].end; end && raw.range.to >= *end) open.erase(raw.partition);
      sample.push_back(std::move(raw));
    }
  }
  return sample;
}

Result<SampleRecords> SampleOfTable(const PipelineDeps& deps, const LaneMaker& maker, const TargetPtr& target,
                                    const commit::PendingFrom& missing) {
  record::Positions from;
  for (const auto& [partition, next] : missing) from[partition] = {next, {}, std::nullopt};
  FIRN_ASSIGN(auto source, CatchUp::Subscribe(deps, from));
  FIRN_ASSIGN(auto read, ReadSample(*source, from, kTableSampleRecords, kTableSampleWaitMs, *deps.clock));
  source->Close();
  FIRN_ASSIGN(auto sorter, maker.MakeSorter());
  auto sample = std::make_shared<std::vector<record::RawBatch>>();
  for (record::RawBatch& raw : read) {
    FIRN_TRY(CallPatiently(BriefPatience(*deps.clock), [&] { return sorter.Prepare(raw); }));
    Sorted sorted = sorter.Sort(std::move(raw));
    for (SortedRecords& part : sorted.parts) {
      if (part.target == target) sample->push_back(std::move(part.raw));
    }
  }
  return SampleRecords(std::move(sample));
}

}  // namespace firn::pipeline
