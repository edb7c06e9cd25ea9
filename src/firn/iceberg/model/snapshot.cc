#include "firn/iceberg/model/snapshot.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/iceberg/model/json_access.h"

namespace firn::iceberg {

namespace {

using nlohmann::json;

constexpr char kOperation[] = "operation";

Result<std::vector<std::string>> ReadManifestPaths(const json& value) {
  FIRN_ASSIGN(const json* array, FindArray(value, "manifests"));
  std::vector<std::string> paths;
  if (array == nullptr) return paths;
  for (const json& item : *array) {
    if (!item.is_string()) return BadJson("manifests", "a list of strings", item);
    paths.push_back(item.get<std::string>());
  }
  return paths;
}

template <typename T>
void PutIfSet(json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}

}  // namespace

json ToJson(const Snapshot& snapshot, int format_version) {
  json value = {{"snapshot-id", snapshot.snapshot_id}, {"timestamp-ms", snapshot.timestamp_ms}};
  PutIfSet(value, "parent-snapshot-id", snapshot.parent_snapshot_id);
  if (format_version >= 2) value["sequence-number"] = snapshot.sequence_number;
  if (!snapshot.operation.empty() || !snapshot.summary.empty()) {
    value["summary"] = snapshot.summary;
    if (!snapshot.operation.empty()) value["summary"][kOperation] = snapshot.operation;
  }
  if (snapshot.manifest_list.empty()) {
    value["manifests"] = snapshot.manifests;
  } else {
    value["manifest-list"] = snapshot.manifest_list;
  }
  PutIfSet(value, "schema-id", snapshot.schema_id);
  if (format_version >= 3) {
    PutIfSet(value, "first-row-id", snapshot.first_row_id);
    PutIfSet(value, "added-rows", snapshot.added_rows);
    PutIfSet(value, "key-id", snapshot.key_id);
  }
  return value;
}

Result<Snapshot> SnapshotFromJson(const json& value) {
  FIRN_TRY(RequireObject(value, "snapshot"));
  Snapshot snapshot;
  FIRN_ASSIGN(snapshot.snapshot_id, GetInt64(value, "snapshot-id"));
  FIRN_ASSIGN(snapshot.parent_snapshot_id, FindInt64(value, "parent-snapshot-id"));
  FIRN_ASSIGN(const auto sequence_number, FindInt64(value, "sequence-number"));
  snapshot.sequence_number = sequence_number.value_or(0);
  FIRN_ASSIGN(snapshot.timestamp_ms, GetInt64(value, "timestamp-ms"));
  FIRN_ASSIGN(auto manifest_list, FindString(value, "manifest-list"));
  snapshot.manifest_list = std::move(manifest_list).value_or("");
  if (snapshot.manifest_list.empty()) {
    FIRN_ASSIGN(snapshot.manifests, ReadManifestPaths(value));
  }
  FIRN_ASSIGN(auto summary, FindStringMap(value, "summary"));
  if (summary) {
    snapshot.summary = std::move(*summary);
    if (auto operation = snapshot.summary.extract(kOperation))
      snapshot.operation = std::move(operation.mapped());
  }
  FIRN_ASSIGN(snapshot.schema_id, FindInt32(value, "schema-id"));
  FIRN_ASSIGN(snapshot.first_row_id, FindInt64(value, "first-row-id"));
  FIRN_ASSIGN(snapshot.added_rows, FindInt64(value, "added-rows"));
  FIRN_ASSIGN(snapshot.key_id, FindString(value, "key-id"));
  return snapshot;
}

json ToJson(const SnapshotRef& ref) {
  json value = {{"snapshot-id", ref.snapshot_id}, {"type", ref.type == RefType::kBranch ? "branch" : "tag"}};
  if (ref.type == RefType::kBranch) {
    PutIfSet(value, "min-snapshots-to-keep", ref.min_snapshots_to_keep);
    PutIfSet(value, "max-snapshot-age-ms", ref.max_snapshot_age_ms);
  }
  PutIfSet(value, "max-ref-age-ms", ref.max_ref_age_ms);
  return value;
}

Result<SnapshotRef> SnapshotRefFromJson(const json& value) {
  FIRN_TRY(RequireObject(value, "ref"));
  SnapshotRef ref;
  FIRN_ASSIGN(ref.snapshot_id, GetInt64(value, "snapshot-id"));
  FIRN_ASSIGN(const std::string type, GetString(value, "type"));
  if (type != "branch" && type != "tag")
    return Error(ErrorKind::kCorrupt, fmt::format("ref type '{}' is neither branch nor tag", type));
  ref.type = type == "branch" ? RefType::kBranch : RefType::kTag;
  FIRN_ASSIGN(ref.min_snapshots_to_keep, FindInt32(value, "min-snapshots-to-keep"));
  FIRN_ASSIGN(ref.max_snapshot_age_ms, FindInt64(value, "max-snapshot-age-ms"));
  FIRN_ASSIGN(ref.max_ref_age_ms, FindInt64(value, "max-ref-age-ms"));
  return ref;
}

}  // namespace firn::iceberg
