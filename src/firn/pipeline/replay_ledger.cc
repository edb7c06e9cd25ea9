#include "firn/pipeline/replay_ledger.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/commit/protocol/progress.h"
#include "firn/write/dead_letter_reader.h"

namespace firn::pipeline {

namespace {

using nlohmann::json;

/// The count's place in the progress; no topic is called so.
const record::SourcePartition& Count() {
  static const record::SourcePartition count{"replays of dead letters", 0};
  return count;
}

Error Corrupt() { return {ErrorKind::kCorrupt, "the plan of the open replay cannot be read"}; }

}  // namespace

bool ReplayPlan::operator==(const ReplayPlan& other) const {
  return snapshot_id == other.snapshot_id && ranges == other.ranges;
}

std::string EncodePlan(const ReplayPlan& plan) {
  json ranges = json::object();
  for (const auto& [partition, range] : plan.ranges)
    ranges[partition.topic][std::to_string(partition.partition)] = {range.from, range.to};
  return json{{"snapshot", plan.snapshot_id}, {"ranges", std::move(ranges)}}.dump();
}

Result<ReplayPlan> DecodePlan(std::string_view text) {
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !object.contains("snapshot") || !object["snapshot"].is_number_integer() ||
      !object.contains("ranges") || !object["ranges"].is_object()) {
    return Corrupt();
  }
  ReplayPlan plan{object["snapshot"].get<int64_t>(), {}};
  for (const auto& [topic, partitions] : object["ranges"].items()) {
    if (!partitions.is_object()) return Corrupt();
    for (const auto& [key, range] : partitions.items()) {
      int32_t partition = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), partition);
      const bool fits = error == std::errc{} && end == key.data() + key.size() && range.is_array() &&
                        range.size() == 2 && range[0].is_number_integer() && range[1].is_number_integer();
      if (!fits) return Corrupt();
      plan.ranges[{topic, partition}] = {range[0].get<int64_t>(), range[1].get<int64_t>(), {}, std::nullopt};
    }
  }
  return plan;
}

ReplayLedger::ReplayLedger(DeadLetterSink& sink, std::string pipeline_id)
    : sink_(sink), pipeline_id_(std::move(pipeline_id)), ledger_id_(pipeline_id_ + "/replays") {}

std::string ReplayLedger::State::ReplayId(const std::string& pipeline_id) const {
  return fmt::format("{}/replay-{}", pipeline_id, (count + 1) / 2);
}

Result<ReplayLedger::State> ReplayLedger::Load() const {
  FIRN_ASSIGN(const auto table, sink_.Load());
  FIRN_ASSIGN(const auto progress, commit::FindProgress(*table.metadata, ledger_id_, iceberg::kMainBranch));
  State state;
  if (!progress || !progress->positions.contains(Count())) return state;
  const record::PartitionPosition& position = progress->positions.at(Count());
  state.count = position.next;
  if (state.count % 2 == 0) return state;
  FIRN_ASSIGN_CTX(state.open, DecodePlan(position.cursor ? position.cursor->text : ""), sink_.context());
  return state;
}

Result<ReplayLedger::State> ReplayLedger::Open(const State& state, const ReplayPlan& plan,
                                               std::stop_token abort) {
  FIRN_TRY(Move(state, {}, EncodePlan(plan), std::move(abort)));
  FIRN_ASSIGN(State now, Load());
  if (!now.open)
    return Error(ErrorKind::kConflict, "another process replays the same letters").WithRetry(RetryHint::kNo);
  return now;
}

Status ReplayLedger::Close(const State& state, const std::vector<record::DeadLetter>& letters,
                           std::stop_token abort) {
  std::vector<record::DeadLetter> marks;
  for (const record::DeadLetter& letter : letters) {
    record::DeadLetter mark;
    mark.partition = letter.partition;
    mark.offset = letter.offset;
    mark.timestamp_ms = letter.timestamp_ms;
    mark.file = letter.file;
    mark.line = letter.line;
    mark.target_table = letter.target_table;
    mark.stage = write::kReplayStage;
    mark.reason = write::kReplayedReason;
    mark.message = fmt::format("sent through the pipeline again as {}", state.ReplayId(pipeline_id_));
    marks.push_back(std::move(mark));
  }
  commit::TableBatch batch;
  if (!marks.empty()) {
    FIRN_ASSIGN_CTX(batch.files, sink_.StageRows(marks), sink_.context());
  }
  return Move(state, std::move(batch), std::nullopt, std::move(abort));
}

// One step of the count. Refused by the fence: somebody else made it, which is as good.
Status ReplayLedger::Move(const State& state, commit::TableBatch batch, std::optional<std::string> plan,
                          std::stop_token abort) {
  FIRN_ASSIGN_CTX(commit::Committer * committer, sink_.CommitterOf(ledger_id_), sink_.context());
  record::PositionRange range{state.count, state.count + 1, {}, std::nullopt};
  if (plan) range.cursor = record::SourceCursor{state.count + 1, *std::move(plan)};
  batch.ranges[Count()] = std::move(range);
  commit::CommitOutcome outcome = committer->CommitBatch(batch, std::move(abort));
  if (std::holds_alternative<commit::Committed>(outcome) ||
      std::holds_alternative<commit::AlreadyCommitted>(outcome))
    return Ok();
  if (auto* rejected = std::get_if<commit::Rejected>(&outcome)) {
    if (rejected->fence) return Ok();
    return std::move(rejected->error).WithContext(sink_.context());
  }
  if (auto* conflict = std::get_if<commit::ConflictExhausted>(&outcome))
    return std::move(conflict->error).WithContext(sink_.context());
  return commit::StopOnUnknown(std::get<commit::UnknownOutcome>(outcome)).WithContext(sink_.context());
}

}  // namespace firn::pipeline
