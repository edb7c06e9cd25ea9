#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "firn/base/result.h"

namespace firn::iceberg {

/// Snapshot object of table metadata (spec, "Snapshots").
struct Snapshot {
  int64_t snapshot_id = 0;
  std::optional<int64_t> parent_snapshot_id;
  int64_t sequence_number = 0;
  int64_t timestamp_ms = 0;
  std::string manifest_list;           ///< empty only in v1 with `manifests`
  std::vector<std::string> manifests;  ///< v1 alternative
  std::string operation;               ///< append, replace, overwrite, delete; empty when v1 had no summary
  std::map<std::string, std::string> summary;  ///< without "operation"
  std::optional<int32_t> schema_id;
  std::optional<int64_t> first_row_id;  ///< v3
  std::optional<int64_t> added_rows;    ///< v3
  std::optional<std::string> key_id;
  bool operator==(const Snapshot&) const = default;
};

enum class RefType : uint8_t { kBranch, kTag };

struct SnapshotRef {
  int64_t snapshot_id = 0;
  RefType type = RefType::kBranch;
  std::optional<int32_t> min_snapshots_to_keep;
  std::optional<int64_t> max_snapshot_age_ms;
  std::optional<int64_t> max_ref_age_ms;
  bool operator==(const SnapshotRef&) const = default;
};

inline constexpr char kMainBranch[] = "main";

nlohmann::json ToJson(const Snapshot& snapshot, int format_version);
Result<Snapshot> SnapshotFromJson(const nlohmann::json& json);
nlohmann::json ToJson(const SnapshotRef& ref);
Result<SnapshotRef> SnapshotRefFromJson(const nlohmann::json& json);

}  // namespace firn::iceberg
