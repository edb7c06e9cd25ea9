#include "firn/pipeline/position_order.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "firn/base/text_distance.h"
#include "firn/commit/protocol/history.h"
#include "firn/commit/protocol/progress.h"
#include "firn/commit/protocol/resume.h"
#include "firn/commit/protocol/shared_read.h"
#include "firn/route/router.h"

namespace firn::pipeline {

namespace {

using record::PartitionPosition;
using record::Positions;
using record::SourcePartition;
using Bounds = std::map<SourcePartition, source::PartitionBounds>;
using Offsets = std::map<SourcePartition, int64_t>;
using Kind = PositionTarget::Kind;

std::string Name(const SourcePartition& partition) {
  return fmt::format("{}[{}]", partition.topic, partition.partition);
}

std::vector<SourcePartition> Keys(const Bounds& bounds) {
  std::vector<SourcePartition> keys;
  for (const auto& [partition, bound] : bounds) keys.push_back(partition);
  return keys;
}

/// Works out one order.
class Planner {
 public:
  Planner(const iceberg::TableMetadata& table, const PipelineConfig& config, source::Source& source,
          const PositionTarget& target)
      : table_(table), config_(config), source_(source), target_(target) {}

  Result<PlannedPositions> Plan() {
    FIRN_ASSIGN(bounds_, source_.ListPartitions());
    FIRN_TRY(CheckTopics());
    ReadRecorded();
    FIRN_ASSIGN(Positions wanted, Wanted());
    PlannedPositions planned;
    planned.order.table_uuid = table_.table_uuid;
    if (const iceberg::Snapshot* head = table_.Head(branch())) planned.order.head = head->snapshot_id;
    planned.order.progress = table_.Property(commit::ProgressKey(config_.id, branch()), "");
    planned.order.mark = target_.said;
    planned.order.positions = Merged(std::move(wanted));
    planned.moves = Moves(planned.order.positions);
    planned.needed = !recorded_ || recorded_->positions != planned.order.positions || !RecordedHolds();
    return planned;
  }

 private:
  const std::string& branch() const { return config_.tables.front().branch; }
  bool Chosen(const SourcePartition& partition) const {
    return target_.topics.empty() ||
           std::ranges::find(target_.topics, partition.topic) != target_.topics.end();
  }

  Status CheckTopics() const {
    std::set<std::string> known;
    for (const auto& [partition, bound] : bounds_) known.insert(partition.topic);
    for (const std::string& topic : target_.topics) {
      if (!known.contains(topic)) return Unknown("topic", topic, {known.begin(), known.end()});
    }
    for (const auto& [partition, offset] : target_.offsets) {
      if (!known.contains(partition.topic))
        return Unknown("topic", partition.topic, {known.begin(), known.end()});
      if (!bounds_.contains(partition)) return Unknown("partition", Name(partition), {});
    }
    return Ok();
  }

  Error Unknown(std::string_view what, const std::string& name, const std::vector<std::string>& known) const {
    Error error(ErrorKind::kInvalidArgument,
                fmt::format("pipeline \"{}\" does not read {} '{}'", config_.id, what, name));
    const auto near = NearestName(name, known);
    return near ? std::move(error).WithRemedy(fmt::format("The nearest it reads is '{}'.", *near))
                : std::move(error).WithRemedy("See 'firn offsets show'.");
  }

  // A property that cannot be read records nothing: an order is one way to mend it.
  void ReadRecorded() {
    auto progress = commit::FindProgress(table_, config_.id, branch());
    if (progress.ok()) recorded_ = *std::move(progress);
  }

  // Whether a run would take the property as it is.
  bool RecordedHolds() const {
    return recorded_->table_uuid == table_.table_uuid && recorded_->branch == branch() &&
           commit::FindAncestor(table_, branch(), recorded_->snapshot_id, recorded_->sequence_number) !=
               commit::Ancestry::kNotThere;
  }

  Result<Positions> Wanted() {
    switch (target_.kind) {
      case Kind::kRecorded:
        return Recorded();
      case Kind::kStart:
        return Start();
      case Kind::kHistory:
        return History();
      default:
        break;
    }
    FIRN_TRY(NeedsNumbers());
    FIRN_ASSIGN(const Offsets offsets, Asked());
    return AtOffsets(offsets);
  }

  // Sources without numbers of their own (files) remember what they took in another way.
  Status NeedsNumbers() const {
    const bool numbered =
        std::ranges::all_of(bounds_, [](const auto& entry) { return entry.second.end.has_value(); });
    if (numbered) return Ok();
    return Error(ErrorKind::kUnsupported,
                 "what was taken of files is remembered by file, so that no offset, time or group names a "
                 "position")
        .WithDomain(ErrorDomain::kUser)
        .WithRemedy(
            "'firn offsets reset' has all files read again; 'firn offsets set --to recorded' goes on where "
            "the "
            "table's property says.");
  }

  Result<Offsets> Asked() {
    Offsets offsets;
    std::vector<SourcePartition> chosen;
    for (const auto& [partition, bound] : bounds_) {
      if (!Chosen(partition)) continue;
      chosen.push_back(partition);
      if (target_.kind == Kind::kEarliest) offsets[partition] = bound.first;
      if (target_.kind == Kind::kLatest) offsets[partition] = *bound.end;
    }
    if (target_.kind == Kind::kOffsets) return target_.offsets;
    if (target_.kind != Kind::kTime && target_.kind != Kind::kGroup) return offsets;
    source::PositionLookup* lookup = source_.position_lookup();
    if (lookup == nullptr) {
      return Error(ErrorKind::kUnsupported, "this source cannot find positions by time or group")
          .WithDomain(ErrorDomain::kUser)
          .WithRemedy("Name them with --offset.");
    }
    if (target_.kind == Kind::kTime) return lookup->OffsetsAt(chosen, target_.time_ms);
    FIRN_ASSIGN(offsets, lookup->OffsetsOfGroup(chosen, target_.group));
    if (!offsets.empty()) return offsets;
    return Error(ErrorKind::kNotFound,
                 fmt::format("consumer group '{}' has committed no offset of these topics", target_.group))
        .WithDomain(ErrorDomain::kUser)
        .WithRemedy("Check its name.");
  }

  Result<Positions> AtOffsets(const Offsets& offsets) {
    Positions positions;
    for (const auto& [partition, offset] : offsets) {
      FIRN_ASSIGN(positions[partition], At(partition, offset));
    }
    return positions;
  }

  Result<PartitionPosition> At(const SourcePartition& partition, int64_t offset) {
    const source::PartitionBounds& bound = bounds_.at(partition);
    if (offset < bound.first || offset > *bound.end) {
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("{}: position {} is outside of what the log holds, {} to {}", Name(partition),
                               offset, bound.first, *bound.end))
          .WithRemedy(fmt::format("Name a position in it: --offset {}:{}={}.", partition.topic,
                                  partition.partition, std::clamp(offset, bound.first, *bound.end)));
    }
    PartitionPosition position{offset, bound.identity, std::nullopt};
    FIRN_ASSIGN(position.last, FingerprintBefore(partition, offset));
    return position;
  }

  /// None behind a damaged batch of the log, which an operator passes with these orders.
  Result<std::optional<record::Fingerprint>> FingerprintBefore(const SourcePartition& partition,
                                                               int64_t offset) {
    auto fingerprint = source_.FingerprintBefore(partition, offset);
    if (!fingerprint.ok() && fingerprint.error().kind() == ErrorKind::kCorrupt)
      return std::optional<record::Fingerprint>();
    return fingerprint;
  }

  Result<Positions> Recorded() {
    if (!recorded_) {
      return Error(ErrorKind::kNotFound,
                   fmt::format("the table records no positions of pipeline \"{}\"", config_.id))
          .WithDomain(ErrorDomain::kUser)
          .WithRemedy("Say where to begin: --offset, --time, --group, or 'firn offsets reset'.");
    }
    Positions positions;
    for (const auto& [partition, position] : recorded_->positions) {
      const auto bound = bounds_.find(partition);
      if (!Chosen(partition) || bound == bounds_.end()) continue;
      if (bound->second.end) {
        FIRN_ASSIGN(positions[partition], At(partition, position.next));
      } else {
        positions[partition] = position;
        positions[partition].identity = bound->second.identity;
      }
    }
    return positions;
  }

  Result<Positions> Start() {
    std::vector<SourcePartition> chosen = Keys(bounds_);
    std::erase_if(chosen, [this](const SourcePartition& partition) { return !Chosen(partition); });
    FIRN_ASSIGN(Positions positions, source_.ResolveStart(chosen));
    for (auto& [partition, position] : positions) {
      FIRN_ASSIGN(position.last, FingerprintBefore(partition, position.next));
    }
    return positions;
  }

  Result<Positions> History() {
    FIRN_TRY(NeedsNumbers());
    bool complete = false;
    const iceberg::Snapshot* ours = commit::FindNewestOfPipeline(table_, branch(), config_.id, &complete);
    const auto text = ours == nullptr ? std::string() : SummaryText(*ours, commit::kSummaryRanges);
    auto map = commit::DecodeWholeMap(text);
    if (!map.ok() || !map->has_value()) {
      return Error(ErrorKind::kNotFound,
                   ours == nullptr
                       ? fmt::format("the history of branch {} shows no commit of pipeline \"{}\"", branch(),
                                     config_.id)
                       : fmt::format("snapshot {} of this pipeline does not carry the whole map of positions",
                                     ours->snapshot_id))
          .WithDomain(ErrorDomain::kUser)
          .WithRemedy("Say where to begin: --offset, --time, --group, or 'firn offsets reset'.");
    }
    Offsets offsets;
    for (const auto& [partition, position] : **map) {
      if (Chosen(partition) && bounds_.contains(partition)) offsets[partition] = position.next;
    }
    return AtOffsets(offsets);
  }

  static std::string SummaryText(const iceberg::Snapshot& snapshot, const char* key) {
    const auto found = snapshot.summary.find(key);
    return found == snapshot.summary.end() ? std::string() : found->second;
  }

  // What is not named stays. After a rollback partitions that its history does not know yet are found anew.
  Positions Merged(Positions wanted) const {
    if (!recorded_) return wanted;
    for (const auto& [partition, position] : recorded_->positions) {
      const bool forgotten = target_.kind == Kind::kHistory && Chosen(partition);
      if (!forgotten) wanted.try_emplace(partition, position);
    }
    return wanted;
  }

  std::vector<PositionMove> Moves(const Positions& positions) const {
    std::vector<PositionMove> moves;
    for (const auto& [partition, position] : positions) {
      std::optional<int64_t> from;
      if (recorded_ && recorded_->positions.contains(partition))
        from = recorded_->positions.at(partition).next;
      if (from != position.next) moves.push_back({partition, from, position.next});
    }
    if (!recorded_) return moves;
    for (const auto& [partition, position] : recorded_->positions) {
      if (!positions.contains(partition)) moves.push_back({partition, position.next, std::nullopt});
    }
    return moves;
  }

  const iceberg::TableMetadata& table_;
  const PipelineConfig& config_;
  source::Source& source_;
  const PositionTarget& target_;
  Bounds bounds_;
  std::optional<commit::Progress> recorded_;
};

Result<std::string> StateOf(const SourcePartition& partition, const PartitionPosition& position,
                            const source::PartitionBounds& bound, source::Source& source) {
  commit::LogFacts log{bound.first, bound.end, bound.identity, std::nullopt};
  if (position.last && position.next > bound.first && (!bound.end || position.next <= *bound.end)) {
    FIRN_ASSIGN(log.before, source.FingerprintBefore(partition, position.next));
  }
  const auto check = commit::CheckPartition(position, log);
  if (const auto* recreated = std::get_if<commit::PartitionRecreated>(&check)) return recreated->why;
  if (const auto* trimmed = std::get_if<commit::PartitionTrimmed>(&check))
    return fmt::format("records [{}, {}) are gone", trimmed->from, trimmed->to);
  return std::string("goes on");
}

Result<std::vector<PartitionStanding>> Partitions(const Positions& positions, source::Source* source) {
  Bounds bounds;
  if (source != nullptr) {
    FIRN_ASSIGN(bounds, source->ListPartitions());
  }
  std::vector<PartitionStanding> standings;
  for (const auto& [partition, position] : positions) {
    PartitionStanding standing{partition, position.next, std::nullopt, std::nullopt, ""};
    const auto bound = bounds.find(partition);
    if (bound != bounds.end()) {
      standing.first = bound->second.first;
      standing.end = bound->second.end;
      FIRN_ASSIGN(standing.state, StateOf(partition, position, bound->second, *source));
    } else if (source != nullptr) {
      standing.state = "the source has no such partition";
    }
    standings.push_back(std::move(standing));
  }
  for (const auto& [partition, bound] : bounds) {
    if (!positions.contains(partition))
      standings.push_back({partition, std::nullopt, bound.first, bound.end, "not known yet"});
  }
  std::ranges::sort(standings, {}, &PartitionStanding::partition);
  return standings;
}

}  // namespace

Result<PlannedPositions> PlanPositions(const iceberg::LoadedTable& table, const PipelineConfig& config,
                                       source::Source& source, const PositionTarget& target) {
  auto planned = Planner(*table.metadata, config, source, target).Plan();
  if (!planned.ok()) return std::move(planned).error().WithContext("table " + table.identifier.ToString());
  return planned;
}

Result<TableStanding> StandingOf(const iceberg::LoadedTable& table, const PipelineConfig& config,
                                 source::Source* source) {
  commit::ResumeFacts facts;
  facts.table = table.metadata.get();
  facts.pipeline_id = config.id;
  facts.branch = config.tables.front().branch;
  if (source != nullptr) {
    FIRN_ASSIGN(const Bounds bounds, source->ListPartitions());
    for (const auto& [partition, bound] : bounds) {
      facts.topics.push_back(partition.topic);
      facts.source.cluster_id = bound.identity.cluster_id;
    }
    FIRN_ASSIGN(facts.group_notes, source->GroupNotes());
  }
  TableStanding standing;
  standing.table = table.identifier.ToString();
  Positions positions;
  const commit::ResumeDecision decision = commit::DecideResume(facts);
  if (const auto* at = std::get_if<commit::ResumeAt>(&decision)) {
    standing.epoch = at->epoch;
    standing.state = at->how;
    positions = at->positions;
  } else if (const auto* stop = std::get_if<commit::ResumeStop>(&decision)) {
    standing.goes_on = false;
    standing.state = stop->found;
    auto recorded = commit::FindProgress(*table.metadata, config.id, facts.branch);
    if (recorded.ok() && recorded->has_value()) {
      standing.epoch = (*recorded)->epoch;
      positions = (*recorded)->positions;
    }
  } else {
    standing.state = "no positions yet: the configured start decides";
  }
  FIRN_ASSIGN(standing.partitions, Partitions(positions, source));
  return standing;
}

Result<std::vector<TableStanding>> SharedStandings(
    const iceberg::LoadedTable& control, const PipelineConfig& config, source::Source* source,
    const std::function<Result<iceberg::LoadedTable>(const std::string&)>& load) {
  std::vector<TableStanding> standings(1);
  TableStanding& bound = standings.front();
  const std::string text = control.metadata->Property(commit::CompleteKey(config.id), "");
  if (text.empty()) {
    bound.state = "no positions yet: the configured start decides";
    FIRN_ASSIGN(bound.partitions, Partitions({}, source));
    return standings;
  }
  FIRN_ASSIGN(const commit::Complete complete, commit::DecodeComplete(text));
  bound.state = "everything below is committed, whatever its table";
  FIRN_ASSIGN(bound.partitions, Partitions(complete.bound, source));
  for (const auto& [name, known] : complete.tables) {
    TableStanding standing;
    standing.table = name;
    const Result<iceberg::LoadedTable> table = load(name);
    Positions positions;
    if (!table.ok()) {
      standing.goes_on = false;
      standing.state = table.error().ToString();
    } else {
      FIRN_ASSIGN(auto progress,
                  commit::FindProgress(*table->metadata, config.id, config.tables.front().branch));
      if (progress) {
        standing.epoch = progress->epoch;
        positions = std::move(progress->positions);
      }
      standing.state =
          complete.behind.contains(name) ? "behind: it catches up in the next run" : "at its last commit";
    }
    FIRN_ASSIGN(standing.partitions, Partitions(positions, nullptr));
    standings.push_back(std::move(standing));
  }
  return standings;
}

Result<bool> HasOneTable(const PipelineConfig& config) {
  FIRN_ASSIGN(const auto router, route::Router::Make(RouteRules(config)));
  return router->sole();
}

}  // namespace firn::pipeline
