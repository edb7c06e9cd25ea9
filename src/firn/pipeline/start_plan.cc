#include "firn/pipeline/start_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "firn/commit/protocol/progress.h"
#include "firn/commit/protocol/resume.h"
#include "firn/pipeline/table_setup.h"

namespace firn::pipeline {

namespace {

using record::Positions;
using record::SourcePartition;
using Bounds = std::map<SourcePartition, source::PartitionBounds>;

Error Stop(const StartContext& context, std::string found, std::string remedy) {
  return Error(ErrorKind::kDataLoss, std::move(found))
      .WithRemedy(std::move(remedy))
      .WithContext(context.catalog == nullptr ? "pipeline " + context.config->id
                                              : "table " + context.config->tables.front().name.ToString());
}

Result<commit::ResumeDecision> Decide(const StartContext& context, const iceberg::TableMetadata& table,
                                      const Bounds& bounds) {
  commit::ResumeFacts facts;
  facts.table = &table;
  facts.pipeline_id = context.config->id;
  facts.branch = context.config->tables.front().branch;
  facts.first_run_allowed = context.options->first_run;
  facts.adopt = context.options->adopt;
  std::set<std::string> topics;
  for (const auto& [partition, bound] : bounds) {
    topics.insert(partition.topic);
    facts.source.cluster_id = bound.identity.cluster_id;
  }
  facts.topics.assign(topics.begin(), topics.end());
  if (!table.properties.contains(commit::ProgressKey(facts.pipeline_id, facts.branch))) {
    FIRN_ASSIGN(facts.group_notes, context.source->GroupNotes());
  }
  return commit::DecideResume(facts);
}

// Positions that this pipeline's own property does not hold yet become its marker in the table, before
// anything is read.
Status CommitMarker(const StartContext& context, const Positions& start) {
  commit::CommitOutcome outcome = context.commit_start(start);
  if (std::holds_alternative<commit::Committed>(outcome) ||
      std::holds_alternative<commit::AlreadyCommitted>(outcome))
    return Ok();
  if (auto* rejected = std::get_if<commit::Rejected>(&outcome)) return std::move(rejected->error);
  if (auto* conflict = std::get_if<commit::ConflictExhausted>(&outcome)) return std::move(conflict->error);
  return commit::StopOnUnknown(std::get<commit::UnknownOutcome>(outcome));
}

// First run: the resolved start of every partition, not only of ours.
Status CommitFirstStart(const StartContext& context) {
  FIRN_ASSIGN(auto start, ConfiguredStart(*context.source));
  return CommitMarker(context, start);
}

/// Sorts the assigned partitions that the table knows into those that go on, were trimmed, or are no longer
/// the same log.
class Checker {
 public:
  Checker(const StartContext& context, const Bounds& bounds, StartPlan& plan)
      : context_(context), bounds_(bounds), plan_(plan) {}

  Status Check(const SourcePartition& partition, const record::PartitionPosition& position) {
    const source::PartitionBounds& bound = bounds_.at(partition);
    commit::LogFacts log{bound.first, bound.end, bound.identity, std::nullopt};
    if (position.last && position.next > bound.first && (!bound.end || position.next <= *bound.end)) {
      FIRN_ASSIGN(log.before, context_.source->FingerprintBefore(partition, position.next));
    }
    const auto check = commit::CheckPartition(position, log);
    if (const auto* recreated = std::get_if<commit::PartitionRecreated>(&check)) {
      recreated_.push_back(fmt::format("{}[{}]: {}", partition.topic, partition.partition, recreated->why));
      return Ok();
    }
    if (const auto* trimmed = std::get_if<commit::PartitionTrimmed>(&check)) {
      trimmed_.push_back(fmt::format("{}[{}]: records [{}, {}) are gone", partition.topic,
                                     partition.partition, trimmed->from, trimmed->to));
      plan_.origins[partition] = trimmed->from;
    }
    record::PartitionPosition start = position;
    start.next = std::max(position.next, bound.first);
    start.identity = bound.identity;
    plan_.positions[partition] = std::move(start);
    return Ok();
  }

  Status Verdict() const {
    if (!recreated_.empty()) {
      return Stop(
          context_, fmt::format("the source is not the one that was read: {}", fmt::join(recreated_, "; ")),
          "If it is to be read, say from where: 'firn offsets reset --to earliest --yes' takes all that the "
          "new log holds, 'firn offsets set --offset' names positions.");
    }
    if (!trimmed_.empty() && context_.config->on_data_loss == OnDataLoss::kFail) {
      return Stop(
          context_, fmt::format("the log was trimmed past our position: {}", fmt::join(trimmed_, "; ")),
          "Set on_data_loss: earliest to go on from the first record that is left, or give the word once "
          "with 'firn offsets set --offset'.");
    }
    return Ok();
  }

 private:
  const StartContext& context_;
  const Bounds& bounds_;
  StartPlan& plan_;
  std::vector<std::string> recreated_;
  std::vector<std::string> trimmed_;
};

}  // namespace

Result<StartPlan> PlanStart(const StartContext& context, const std::vector<SourcePartition>& partitions) {
  FIRN_ASSIGN(auto bounds, context.source->Bounds(partitions));
  FIRN_ASSIGN(auto table, context.catalog->LoadTable(Identifier(context.config->tables.front().name)));
  FIRN_ASSIGN(auto decision, Decide(context, *table.metadata, bounds));
  StartPlan plan;
  Positions known;
  if (const auto* stop = std::get_if<commit::ResumeStop>(&decision))
    return Stop(context, stop->found, stop->remedy);
  if (const auto* at = std::get_if<commit::ResumeAt>(&decision)) {
    known = at->positions;
    plan.epoch = at->epoch;
    plan.how = at->how;
    if (!table.metadata->properties.contains(
            commit::ProgressKey(context.config->id, context.config->tables.front().branch))) {
      FIRN_TRY(CommitMarker(context, known));  // adopted, or the property was lost
    }
  } else {
    FIRN_TRY(CommitFirstStart(context));
    FIRN_ASSIGN(known, TablePositions(*context.catalog, *context.config));
    plan.how = "first run";
  }
  Checker checker(context, bounds, plan);
  for (const auto& [partition, bound] : bounds) {
    auto position = known.find(partition);
    if (position != known.end()) {
      FIRN_TRY(checker.Check(partition, position->second));
    } else {
      plan.positions[partition] = {bound.first, bound.identity,
                                   std::nullopt};  // found later: from its first record
    }
  }
  FIRN_TRY(checker.Verdict());
  return plan;
}

Result<SharedStart> PlanSharedStart(const StartContext& context, ControlTable& control,
                                    const std::vector<SourcePartition>& partitions,
                                    const std::stop_token& abort) {
  const std::string& id = context.config->id;
  FIRN_ASSIGN(auto bounds, context.source->Bounds(partitions));
  SharedStart start;
  FIRN_ASSIGN(start.control, control.Load(id));
  start.plan.how = "at the lower bound of the control table";
  if (!start.control.complete && !context.options->adopt.empty()) {
    FIRN_ASSIGN(auto adopted, control.Load(context.options->adopt));
    if (!adopted.complete) {
      return Stop(context,
                  fmt::format("--adopt {}: the control table holds nothing of it", context.options->adopt),
                  "See its properties firn.complete.* for the ids that are there.");
    }
    FIRN_ASSIGN(start.control, control.Store(id, *adopted.complete, abort));
    start.plan.how = fmt::format("adopted from pipeline \"{}\"", context.options->adopt);
  }
  if (!start.control.complete) {
    FIRN_ASSIGN(auto notes, context.source->GroupNotes());
    if (!notes.empty() && !context.options->first_run) {
      return Stop(
          context,
          fmt::format("the consumer group has committed for this pipeline before (note {}), but the control "
                      "table {} knows nothing of it",
                      notes.front(), context.config->dead_letters.table.ToString()),
          "Restore the dead-letter table; or run once with --first-run: everything is read from the "
          "configured start, and each table drops what it has.");
    }
    commit::Complete first;
    FIRN_ASSIGN(first.bound, ConfiguredStart(*context.source));
    FIRN_ASSIGN(start.control, control.Store(id, first, abort));
    start.plan.how = "first run";
  }
  Checker checker(context, bounds, start.plan);
  for (const auto& [partition, bound] : bounds) {
    const auto known = start.control.complete->bound.find(partition);
    if (known != start.control.complete->bound.end()) {
      FIRN_TRY(checker.Check(partition, known->second));
    } else {
      start.plan.positions[partition] = {bound.first, bound.identity, std::nullopt};
    }
  }
  FIRN_TRY(checker.Verdict());
  return start;
}

Result<Positions> ConfiguredStart(source::Source& source) {
  FIRN_ASSIGN(auto all, source.ListPartitions());
  std::vector<SourcePartition> partitions;
  for (const auto& [partition, bound] : all) partitions.push_back(partition);
  return source.ResolveStart(partitions);
}

Result<Positions> TablePositions(iceberg::Catalog& catalog, const PipelineConfig& config) {
  FIRN_ASSIGN(auto table, catalog.LoadTable(Identifier(config.tables.front().name)));
  FIRN_ASSIGN(auto progress, commit::FindProgress(*table.metadata, config.id, config.tables.front().branch));
  return progress ? std::move(progress->positions) : Positions{};
}

}  // namespace firn::pipeline
