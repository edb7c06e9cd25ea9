#include "firn/pipeline/control_table.h"

#include <utility>

#include <fmt/format.h>

#include "firn/runtime/fault_point.h"

namespace firn::pipeline {

namespace {

Result<std::optional<commit::Complete>> CompleteOf(const iceberg::TableMetadata& table,
                                                   const std::string& pipeline_id) {
  const auto property = table.properties.find(commit::CompleteKey(pipeline_id));
  if (property == table.properties.end()) return std::optional<commit::Complete>{};
  FIRN_ASSIGN(auto complete, commit::DecodeComplete(property->second));
  return std::optional<commit::Complete>(std::move(complete));
}

}  // namespace

Status ControlTable::WriteLetters(const std::string& letters_id,
                                  const std::vector<record::DeadLetter>& letters,
                                  const record::PositionRanges& ranges, const std::stop_token& abort) {
  const std::lock_guard lock(one_at_a_time_);
  return sink_.Write(letters_id, letters, ranges, abort);
}

Result<ControlTable::State> ControlTable::Load(const std::string& pipeline_id) {
  const std::lock_guard lock(one_at_a_time_);
  auto table = sink_.Load();
  if (!table.ok() && table.error().kind() == ErrorKind::kNotFound) return State{};
  if (!table.ok()) return std::move(table).error();
  State state{table->metadata->table_uuid, std::nullopt};
  FIRN_ASSIGN_CTX(state.complete, CompleteOf(*table->metadata, pipeline_id), sink_.context());
  return state;
}

Result<ControlTable::State> ControlTable::Store(const std::string& pipeline_id, const commit::Complete& ours,
                                                const std::stop_token& abort) {
  const std::lock_guard lock(one_at_a_time_);
  FIRN_ASSIGN(commit::Committer * committer, sink_.CommitterOf(pipeline_id));
  std::optional<commit::Complete> merged;
  const auto plan = [&](const iceberg::TableMetadata& table) -> Result<std::vector<iceberg::Update>> {
    FIRN_ASSIGN(auto base, CompleteOf(table, pipeline_id));
    merged = commit::MergeComplete(base.value_or(commit::Complete{}), ours);
    if (base && *base == *merged) return std::vector<iceberg::Update>{};
    return std::vector<iceberg::Update>{iceberg::update::SetProperties{
        {{commit::CompleteKey(pipeline_id), commit::EncodeComplete(*merged)}}}};
  };
  FIRN_FAULT_POINT(bound_before_write);
  FIRN_ASSIGN_CTX(auto table, committer->Change(plan, abort), sink_.context());
  FIRN_FAULT_POINT(bound_after_write);
  return State{table.metadata->table_uuid, std::move(merged)};
}

std::string LettersId(const std::string& pipeline_id, const std::string& table, bool sole) {
  if (sole) return pipeline_id;
  return fmt::format("{}/{}", pipeline_id, table.empty() ? "unrouted" : table);
}

}  // namespace firn::pipeline
