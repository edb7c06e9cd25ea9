#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/table_metadata.h"

namespace firn::iceberg {

/// Updates of a table commit, named as in the Iceberg REST specification (`TableUpdate`). A closed set.
namespace update {
struct AssignUuid {
  std::string uuid;
};
struct UpgradeFormatVersion {
  int format_version = 2;
};
/// `schema.schema_id()` is a wish; the builder reuses an equal schema or gives the next id. -1 in
/// SetCurrentSchema means "the last added".
struct AddSchema {
  SchemaPtr schema;
};
struct SetCurrentSchema {
  int32_t schema_id = -1;
};
struct AddPartitionSpec {
  PartitionSpec spec;
};
struct SetDefaultSpec {
  int32_t spec_id = -1;
};
struct AddSortOrder {
  SortOrder order;
};
struct SetDefaultSortOrder {
  int32_t order_id = -1;
};
struct AddSnapshot {
  Snapshot snapshot;
};
struct SetSnapshotRef {
  std::string name;
  SnapshotRef ref;
};
struct RemoveSnapshots {
  std::vector<int64_t> snapshot_ids;
};
struct RemoveSnapshotRef {
  std::string name;
};
struct SetProperties {
  Properties properties;
};
struct RemoveProperties {
  std::vector<std::string> keys;
};
struct SetLocation {
  std::string location;
};
}  // namespace update

using Update = std::variant<update::AssignUuid, update::UpgradeFormatVersion, update::AddSchema,
                            update::SetCurrentSchema, update::AddPartitionSpec, update::SetDefaultSpec,
                            update::AddSortOrder, update::SetDefaultSortOrder, update::AddSnapshot,
                            update::SetSnapshotRef, update::RemoveSnapshots, update::RemoveSnapshotRef,
                            update::SetProperties, update::RemoveProperties, update::SetLocation>;

/// The REST specification's name of an update: `add-snapshot` ...
std::string_view UpdateName(const Update& update);

/// Requirements of a table commit, named as in the Iceberg REST specification (`TableRequirement`). A closed
/// set.
namespace requirement {
struct TableDoesNotExist {};
struct TableUuid {
  std::string uuid;
};
struct RefSnapshotId {
  std::string ref;
  std::optional<int64_t> snapshot_id;  ///< empty: the ref must not exist
};
struct LastAssignedFieldId {
  int32_t id = 0;
};
struct CurrentSchemaId {
  int32_t id = 0;
};
struct LastAssignedPartitionId {
  int32_t id = 0;
};
struct DefaultSpecId {
  int32_t id = 0;
};
struct DefaultSortOrderId {
  int32_t id = 0;
};
}  // namespace requirement

using Requirement = std::variant<requirement::TableDoesNotExist, requirement::TableUuid,
                                 requirement::RefSnapshotId, requirement::LastAssignedFieldId,
                                 requirement::CurrentSchemaId, requirement::LastAssignedPartitionId,
                                 requirement::DefaultSpecId, requirement::DefaultSortOrderId>;

/// kConflict with the requirement's name and both values when one does not hold. `base` is null for a table
/// that does not exist.
Status CheckRequirements(const TableMetadata* base, const std::vector<Requirement>& requirements);

struct ApplyContext {
  int64_t now_ms =
      0;  ///< our clock; the result's last-updated-ms is max(now, what the base holds) (invariant 6)
  std::string previous_metadata;  ///< location of the base's file, for the metadata log; empty on creation
};

/// The metadata after `updates`, with the spec's and Java's rules: snapshot and metadata logs, uniqueness,
/// sequence and row-id checks, metadata log capped by `write.metadata.previous-versions-max`. Errors are
/// kInvalidArgument with the update's name.
Result<TableMetadata> ApplyUpdates(const TableMetadata& base, const std::vector<Update>& updates,
                                   const ApplyContext& context);

struct NewTable {
  std::string uuid;
  std::string location;
  SchemaPtr schema;    ///< ids are re-assigned fresh unless keep_field_ids
  PartitionSpec spec;  ///< source ids refer to `schema` as given; re-mapped when ids are re-assigned
  SortOrder order;
  Properties properties;  ///< reserved ones (`format-version` ...) are refused
  int format_version = 2;
  bool keep_field_ids = false;
};

/// Metadata of a table that does not exist yet (no snapshot). As Java does, `write.parquet.compression-codec`
/// is stored as zstd unless given.
Result<TableMetadata> NewTableMetadata(const NewTable& table, int64_t now_ms);

/// Snapshots and refs that `history.expire.*` (and per-ref settings) release now (our reference
/// iceberg-format.md section 9), as updates: RemoveSnapshotRef and RemoveSnapshots. Never the head of main.
/// With `keep_refs` no ref is removed.
std::vector<Update> PlanExpiry(const TableMetadata& metadata, int64_t now_ms, bool keep_refs);

}  // namespace firn::iceberg
