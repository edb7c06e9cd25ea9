#include "firn/verify/verdict.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "firn/commit/protocol/progress.h"

namespace firn::verify {

namespace {

using record::SourcePartition;
using Bounds = std::map<SourcePartition, source::PartitionBounds>;

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int kPollMs = 100;
constexpr int64_t kSilenceMs = 60'000;
/// Reading on costs less than a seek up to about here.
constexpr int64_t kSeekDistance = 50'000;

const PartitionRows& RowsOf(const TableOffsets* offsets, const SourcePartition& partition) {
  static const PartitionRows none;
  if (offsets == nullptr) return none;
  const auto found = offsets->partitions.find(partition);
  return found == offsets->partitions.end() ? none : found->second;
}

PartitionReport Begin(const SourcePartition& partition, const PartitionRows& rows) {
  PartitionReport report;
  report.partition = partition;
  report.rows = rows.rows;
  report.repeated_rows = rows.rows - rows.offsets.size();
  if (!rows.offsets.empty()) {
    report.first = rows.offsets.first();
    report.end = rows.offsets.last() + 1;
  }
  if (rows.repeated.empty()) return report;
  const int64_t end = rows.repeated.last() + 1;
  for (int64_t at = rows.repeated.first(); at < end;) {
    const auto gap = rows.repeated.NextGap(at, end);
    report.repeated.Add({at, gap ? gap->from : end});
    at = gap ? gap->to : end;
  }
  return report;
}

Finding& HoleOrTail(PartitionReport& report, int64_t offset) {
  return offset < report.end ? report.holes : report.tail;
}

// Numbers in [from, to) without a row and without a letter.
template <typename Take>
void ForEachMissing(const PartitionRows& rows, const PartitionRows& letters, PartitionReport& report,
                    int64_t from, int64_t to, const Take& take) {
  while (const auto gap = rows.offsets.NextGap(from, to)) {
    int64_t missing = 0;
    for (int64_t at = gap->from; at < gap->to;) {
      const auto bare = letters.offsets.NextGap(at, gap->to);
      if (!bare) break;
      take(*bare);
      missing += bare->size();
      at = bare->to;
    }
    report.dead_letters += gap->size() - missing;
    from = gap->to;
  }
}

/// Reads the log where numbers have no row.
class LogWalk {
 public:
  LogWalk(const VerifyFacts& facts, source::Source& source, runtime::Clock& clock)
      : facts_(facts), source_(source), clock_(clock) {}

  Result<std::vector<PartitionReport>> Run() {
    FIRN_ASSIGN(bounds_, source_.ListPartitions());
    for (const auto& [partition, bound] : bounds_) {
      if (!bound.end) {
        return Error(ErrorKind::kUnsupported, "this source does not number its records as a log does")
            .WithDomain(ErrorDomain::kUser)
            .WithRemedy("Leave --pipeline out: the table is then looked at by itself.");
      }
    }
    record::Positions start;
    for (const auto& [partition, bound] : bounds_) Prepare(partition, bound, start);
    FIRN_TRY(Begin(start));
    FIRN_TRY(ReadAll());
    // What this source does not have is looked at by itself.
    for (PartitionReport& report : VerifyNumbers(facts_)) {
      if (!bounds_.contains(report.partition)) reports_.push_back(std::move(report));
    }
    return std::move(reports_);
  }

 private:
  /// A partition that is read.
  struct Track {
    size_t report = 0;
    int64_t end = 0;
  };

  void Prepare(const SourcePartition& partition, const source::PartitionBounds& bound,
               record::Positions& start) {
    const PartitionRows& rows = RowsOf(facts_.rows, partition);
    PartitionReport report = verify::Begin(partition, rows);
    report.log = bound;
    const auto found = facts_.expected.find(partition);
    const Expected expected = found == facts_.expected.end() ? Expected{} : found->second;
    const int64_t to = std::min(*bound.end, std::max(expected.to.value_or(*bound.end), report.end));
    report.waiting = *bound.end - to;
    const int64_t from = From(report, expected, bound, to);
    ForEachMissing(rows, RowsOf(facts_.letters, partition), report, from, std::min(to, bound.first),
                   [&](OffsetRange range) { report.unproven.Add(range); });
    if (const auto gap = rows.offsets.NextGap(std::max(from, bound.first), to)) {
      tracks_[partition] = {reports_.size(), to};
      start[partition] = {gap->from, bound.identity, std::nullopt};
    }
    reports_.push_back(std::move(report));
  }

  int64_t From(const PartitionReport& report, const Expected& expected, const source::PartitionBounds& bound,
               int64_t to) const {
    if (expected.from) return *expected.from;
    if (facts_.from_log_start) return bound.first;
    if (report.rows > 0) return report.first;
    return expected.to ? to : bound.first;  // a partition that nobody has begun is missing as a whole
  }

  Status Begin(const record::Positions& start) {
    if (start.empty()) return Ok();
    FIRN_TRY(source_.Subscribe(/*bounded=*/true));
    std::vector<SourcePartition> others;
    for (const auto& [partition, bound] : bounds_) {
      if (!start.contains(partition)) others.push_back(partition);
    }
    if (!others.empty()) FIRN_TRY(source_.Release(others));
    return source_.Start(start);
  }

  Status ReadAll() {
    int64_t heard_ns = clock_.MonotonicNs();
    while (!tracks_.empty()) {
      FIRN_ASSIGN(const auto events, source_.PollControl(0));
      for (const auto& event : events) {
        const auto* trouble = std::get_if<source::SourceTrouble>(&event);
        if (trouble != nullptr && trouble->error.retry() == RetryHint::kNo) return trouble->error;
      }
      source::PollBudget budget;
      budget.timeout_ms = kPollMs;
      FIRN_ASSIGN(const auto polled, source_.Poll(0, budget));
      for (const record::RawBatch& raw : polled) FIRN_TRY(Take(raw));
      const int64_t now_ns = clock_.MonotonicNs();
      if (!polled.empty()) heard_ns = now_ns;
      if (now_ns - heard_ns > kSilenceMs * kNsPerMs) {
        return Error(ErrorKind::kTimeout, fmt::format("the log brought nothing for {} s", kSilenceMs / 1000));
      }
    }
    return Ok();
  }

  Status Take(const record::RawBatch& raw) {
    const auto found = tracks_.find(raw.partition);
    if (found == tracks_.end()) return Ok();
    const Track track = found->second;
    PartitionReport& report = reports_[track.report];
    const PartitionRows& rows = RowsOf(facts_.rows, raw.partition);
    const OffsetSet& letters = RowsOf(facts_.letters, raw.partition).offsets;
    for (size_t i = 0; i < raw.size() && raw.offsets[i] < track.end; ++i) {
      const int64_t offset = raw.offsets[i];
      if (rows.offsets.Contains(offset)) continue;
      if (letters.Contains(offset)) {
        ++report.dead_letters;
      } else if (raw.values[i].is_null()) {
        ++report.tombstones;
      } else {
        HoleOrTail(report, offset).Add({offset, offset + 1});
      }
    }
    return GoOn(raw.partition, raw.range.to, track.end, rows.offsets);
  }

  Status GoOn(const SourcePartition& partition, int64_t at, int64_t end, const OffsetSet& rows) {
    const auto gap = rows.NextGap(at, end);
    if (!gap) {
      tracks_.erase(partition);
      return source_.Release({partition});
    }
    if (gap->from - at < kSeekDistance) return Ok();
    return source_.Seek({{partition, {gap->from, bounds_.at(partition).identity, std::nullopt}}});
  }

  const VerifyFacts& facts_;
  source::Source& source_;
  runtime::Clock& clock_;
  Bounds bounds_;
  std::vector<PartitionReport> reports_;
  std::map<SourcePartition, Track> tracks_;
};

void TakeStart(const iceberg::TableMetadata& table, const std::string& pipeline_id, Expectations& expected) {
  for (const iceberg::Snapshot& snapshot : table.snapshots) {
    const auto text = [&](const char* key) {
      const auto found = snapshot.summary.find(key);
      return found == snapshot.summary.end() ? std::string() : found->second;
    };
    if (text(commit::kSummaryPipeline) != pipeline_id || text(commit::kSummaryEpoch) != "0") continue;
    const auto map = commit::DecodeWholeMap(text(commit::kSummaryRanges));
    if (!map.ok() || !map->has_value()) continue;
    for (const auto& [partition, position] : **map) {
      std::optional<int64_t>& from = expected[partition].from;
      from = std::min(from.value_or(position.next), position.next);
    }
  }
}

}  // namespace

void Finding::Add(OffsetRange range) {
  offsets += range.size();
  if (ranges > 0 && range.from == end_) {
    if (ranges <= static_cast<int64_t>(listed.size())) listed.back().to = range.to;
  } else {
    ++ranges;
    if (listed.size() < kMaxListed) listed.push_back(range);
  }
  end_ = range.to;
}

Result<Expectations> ExpectationsOf(const iceberg::TableMetadata& table, const std::string& pipeline_id,
                                    const std::string& branch) {
  constexpr std::string_view kPrefix = "firn.progress.";
  Expectations expected;
  for (const auto& [key, text] : table.properties) {
    if (!key.starts_with(kPrefix)) continue;
    if (!pipeline_id.empty() && key != commit::ProgressKey(pipeline_id, branch)) continue;
    FIRN_ASSIGN_CTX(const auto progress, commit::DecodeProgress(text), "table property " + key);
    if (progress.branch != branch) continue;
    for (const auto& [partition, position] : progress.positions) {
      std::optional<int64_t>& to = expected[partition].to;
      to = std::max(to.value_or(position.next), position.next);
    }
    const std::string id =
        key.substr(kPrefix.size(),
                   key.size() - kPrefix.size() - (branch == iceberg::kMainBranch ? 0 : branch.size() + 1));
    TakeStart(table, id, expected);
  }
  return expected;
}

void MergeExpectations(Expectations& all, const Expectations& more) {
  for (const auto& [partition, expected] : more) {
    const auto [entry, added] = all.emplace(partition, expected);
    if (added) continue;
    Expected& known = entry->second;
    if (expected.from) known.from = std::min(known.from.value_or(*expected.from), *expected.from);
    if (expected.to) known.to = std::min(known.to.value_or(*expected.to), *expected.to);
  }
}

std::vector<PartitionReport> VerifyNumbers(const VerifyFacts& facts) {
  std::set<SourcePartition> partitions;
  for (const auto& [partition, rows] : facts.rows->partitions) partitions.insert(partition);
  for (const auto& [partition, expected] : facts.expected) partitions.insert(partition);
  std::vector<PartitionReport> reports;
  for (const SourcePartition& partition : partitions) {
    const PartitionRows& rows = RowsOf(facts.rows, partition);
    PartitionReport report = Begin(partition, rows);
    const auto found = facts.expected.find(partition);
    const Expected expected = found == facts.expected.end() ? Expected{} : found->second;
    const int64_t to = std::max(report.end, expected.to.value_or(report.end));
    const int64_t from = expected.from.value_or(report.rows > 0 ? report.first : to);
    ForEachMissing(rows, RowsOf(facts.letters, partition), report, from, to,
                   [&](OffsetRange range) { HoleOrTail(report, range.from).Add(range); });
    reports.push_back(std::move(report));
  }
  return reports;
}

Result<std::vector<PartitionReport>> VerifyAgainstLog(const VerifyFacts& facts, source::Source& source,
                                                      runtime::Clock& clock) {
  return LogWalk(facts, source, clock).Run();
}

}  // namespace firn::verify
