#include "firn/commit/protocol/resume.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "firn/commit/protocol/history.h"
#include "firn/commit/protocol/progress.h"

namespace firn::commit {

namespace {

constexpr char kSetOffsets[] =
    "Restore the table's state, or decide with 'firn offsets set': --to history reads again what the table "
    "no "
    "longer has, --to recorded goes on at the positions of {}, --offset names others.";

ResumeDecision FromProperty(const ResumeFacts& facts, const Progress& progress, std::string how) {
  const std::string key = ProgressKey(facts.pipeline_id, facts.branch);
  const std::string remedy = fmt::format(kSetOffsets, key);
  if (progress.table_uuid != facts.table->table_uuid || progress.branch != facts.branch) {
    return ResumeStop{
        fmt::format("property {} was written for table {} branch {}, this is table {} branch {}: the table "
                    "was copied or replaced",
                    key, progress.table_uuid, progress.branch, facts.table->table_uuid, facts.branch),
        remedy};
  }
  switch (FindAncestor(*facts.table, facts.branch, progress.snapshot_id, progress.sequence_number)) {
    case Ancestry::kAncestor:
      return ResumeAt{progress.positions, progress.epoch, std::move(how)};
    case Ancestry::kExpired:
      return ResumeAt{progress.positions, progress.epoch, how + ", its snapshot has expired"};
    case Ancestry::kNotThere:
      break;
  }
  const iceberg::Snapshot* head = facts.table->Head(facts.branch);
  return ResumeStop{fmt::format("our last commit (snapshot {}, sequence number {}, epoch {}) is no ancestor "
                                "of the head of {} (snapshot {}, sequence number {}): "
                                "the table was rolled back or replaced",
                                progress.snapshot_id, progress.sequence_number, progress.epoch, facts.branch,
                                head == nullptr ? "none" : std::to_string(head->snapshot_id),
                                head == nullptr ? 0 : head->sequence_number),
                    remedy};
}

// No property, but maybe a snapshot of ours (the property was removed by hand).
std::optional<ResumeDecision> FromHistory(const ResumeFacts& facts) {
  bool complete = false;
  const iceberg::Snapshot* ours =
      FindNewestOfPipeline(*facts.table, facts.branch, facts.pipeline_id, &complete);
  if (ours == nullptr) return std::nullopt;
  auto ranges = ours->summary.find(kSummaryRanges);
  auto epoch = ours->summary.find(kSummaryEpoch);
  if (ranges != ours->summary.end()) {
    auto map = DecodeWholeMap(ranges->second);
    if (map.ok() && map->has_value()) {
      const int64_t count =
          epoch == ours->summary.end() ? 0 : std::strtoll(epoch->second.c_str(), nullptr, 10);
      return ResumeAt{**map, count,
                      fmt::format("from the summary of snapshot {} (the progress property is missing)",
                                  ours->snapshot_id)};
    }
  }
  return ResumeStop{fmt::format("the property {} is missing, and snapshot {} of this pipeline does not carry "
                                "the whole map of positions",
                                ProgressKey(facts.pipeline_id, facts.branch), ours->snapshot_id),
                    "Restore the property from an older metadata file."};
}

bool SharesSource(const Progress& other, const ResumeFacts& facts) {
  return std::ranges::any_of(other.positions, [&](const auto& entry) {
    const auto& [partition, position] = entry;
    const bool cluster = position.identity.cluster_id.empty() || facts.source.cluster_id.empty() ||
                         position.identity.cluster_id == facts.source.cluster_id;
    return cluster && std::ranges::find(facts.topics, partition.topic) != facts.topics.end();
  });
}

std::optional<ResumeDecision> AnotherPipelines(const ResumeFacts& facts) {
  constexpr std::string_view kPrefix = "firn.progress.";
  for (const auto& [key, text] : facts.table->properties) {
    if (!key.starts_with(kPrefix)) continue;
    auto other = DecodeProgress(text);
    if (!other.ok() || other->branch != facts.branch || !SharesSource(*other, facts)) continue;
    const std::string id = key.substr(kPrefix.size());
    return ResumeStop{
        fmt::format(
            "pipeline \"{}\" already feeds this table from the same source, and \"{}\" has no progress here",
            id, facts.pipeline_id),
        fmt::format("If the pipeline was renamed, set `id: {}` or run with --adopt {}; if both are meant, "
                    "they need different tables.",
                    id, id)};
  }
  return std::nullopt;
}

}  // namespace

ResumeDecision DecideResume(const ResumeFacts& facts) {
  auto own = FindProgress(*facts.table, facts.pipeline_id, facts.branch);
  if (!own.ok())
    return ResumeStop{own.error().ToString(), "Restore the property from an older metadata file."};
  if (own->has_value()) return FromProperty(facts, **own, "at its last commit");
  if (!facts.adopt.empty()) {
    auto adopted = FindProgress(*facts.table, facts.adopt, facts.branch);
    if (!adopted.ok() || !adopted->has_value()) {
      return ResumeStop{fmt::format("--adopt {}: this table holds no progress of that pipeline", facts.adopt),
                        "See the table's properties firn.progress.* for the ids that are there."};
    }
    return FromProperty(facts, **adopted, fmt::format("adopted from pipeline \"{}\"", facts.adopt));
  }
  if (facts.first_run_allowed) return ResumeFirstRun{};
  if (auto decision = FromHistory(facts)) return *decision;
  if (auto decision = AnotherPipelines(facts)) return *decision;
  for (const std::string& note : facts.group_notes) {
    if (!note.starts_with("firn/")) continue;
    return ResumeStop{fmt::format("the consumer group has committed for this pipeline before (note {}), but "
                                  "the table {} knows nothing of it: "
                                  "the table was dropped or re-created",
                                  note, facts.table->table_uuid),
                      "If reading everything from the configured start is right, run once with --first-run."};
  }
  return ResumeFirstRun{};
}

PartitionCheck CheckPartition(const record::PartitionPosition& position, const LogFacts& log) {
  const auto differs = [](const std::string& a, const std::string& b) {
    return !a.empty() && !b.empty() && a != b;
  };
  if (differs(position.identity.cluster_id, log.identity.cluster_id)) {
    // Where topics have ids these are clusters; otherwise the words are the source's own.
    const char* kind = position.identity.topic_id.empty() ? "" : "cluster ";
    return PartitionRecreated{fmt::format("what was read is {}{}, this is {}{}", kind,
                                          position.identity.cluster_id, kind, log.identity.cluster_id)};
  }
  if (differs(position.identity.topic_id, log.identity.topic_id)) {
    return PartitionRecreated{fmt::format("read topic id {}, the topic now has id {}",
                                          position.identity.topic_id, log.identity.topic_id)};
  }
  if (log.end && *log.end < position.next) {
    return PartitionRecreated{
        fmt::format("the log ends at {}, below our position {}", *log.end, position.next)};
  }
  if (log.first > position.next) return PartitionTrimmed{position.next, log.first};
  if (position.last && log.before && log.before->offset == position.last->offset &&
      !(*log.before == *position.last)) {
    return PartitionRecreated{
        fmt::format("the record at offset {} is not the one that was read", position.last->offset)};
  }
  return PartitionContinue{position.next};
}

std::string GroupNote(std::string_view table_uuid, int64_t epoch) {
  return fmt::format("firn/{}/{}", table_uuid, epoch);
}

}  // namespace firn::commit
