#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "firn/base/result.h"
#include "firn/iceberg/model/partition_spec.h"
#include "firn/iceberg/model/schema.h"
#include "firn/iceberg/model/snapshot.h"
#include "firn/iceberg/model/sort_order.h"

namespace firn::iceberg {

struct SnapshotLogEntry {
  int64_t timestamp_ms = 0;
  int64_t snapshot_id = 0;
  bool operator==(const SnapshotLogEntry&) const = default;
};

struct MetadataLogEntry {
  int64_t timestamp_ms = 0;
  std::string metadata_file;
  bool operator==(const MetadataLogEntry&) const = default;
};

using Properties = std::map<std::string, std::string>;

/// Contents of a metadata.json (spec, "Table Metadata"). A plain value; changed only through ApplyUpdates
/// (update.h). v1 files are read into the same shape (format_version stays 1; sequence numbers 0; table_uuid
/// may be empty); Firn never writes v1: a commit to such a table needs UpgradeFormatVersion first.
struct TableMetadata {
  int format_version = 2;
  std::string table_uuid;
  std::string location;
  int64_t last_sequence_number = 0;
  int64_t last_updated_ms = 0;
  int32_t last_column_id = 0;
  std::vector<SchemaPtr> schemas;
  int32_t current_schema_id = 0;
  std::vector<PartitionSpec> partition_specs;
  int32_t default_spec_id = 0;
  int32_t last_partition_id = 999;
  std::vector<SortOrder> sort_orders;
  int32_t default_sort_order_id = 0;
  Properties properties;
  std::optional<int64_t> current_snapshot_id;
  std::vector<Snapshot> snapshots;
  std::vector<SnapshotLogEntry> snapshot_log;
  std::vector<MetadataLogEntry> metadata_log;
  std::map<std::string, SnapshotRef> refs;
  int64_t next_row_id = 0;  ///< v3
  /// Kept as they are, not interpreted: statistics, partition-statistics, encryption-keys.
  nlohmann::json statistics;
  nlohmann::json partition_statistics;
  nlohmann::json encryption_keys;

  const SchemaPtr& schema() const;                ///< current schema
  SchemaPtr FindSchema(int32_t schema_id) const;  ///< null when absent
  const PartitionSpec& spec() const;              ///< default spec
  const PartitionSpec* FindSpec(int32_t spec_id) const;
  const SortOrder& sort_order() const;
  const SortOrder* FindSortOrder(int32_t order_id) const;
  const Snapshot* FindSnapshot(int64_t snapshot_id) const;
  /// Head of a branch (or target of a tag); null when the ref does not exist.
  const Snapshot* Head(std::string_view ref) const;
  const Snapshot* current_snapshot() const { return Head(kMainBranch); }
  /// Type of the partition tuple of a spec of this table; a source column dropped since is looked for in the
  /// older schemas.
  Result<TypePtr> PartitionType(const PartitionSpec& spec) const;
  /// Property or default.
  std::string Property(std::string_view key, std::string_view default_value) const;
};

/// Parses metadata.json bytes; gzip is recognised by its magic bytes. `location` is used in messages only.
/// Checked: the current schema, default spec, default sort order and the snapshot of every ref exist, and
/// main is the current snapshot. kCorrupt for what does not follow the format, kUnsupported for a version
/// above 3.
Result<TableMetadata> ParseTableMetadata(std::string_view bytes, std::string_view location);
/// The same, of JSON that has been parsed already (a catalog's answer).
Result<TableMetadata> TableMetadataFromJson(const nlohmann::json& json);
nlohmann::json ToJson(const TableMetadata& metadata);
/// Bytes to store: JSON text, or gzip when `compression` is "gzip" ("none" or empty: plain). kUnsupported for
/// v1.
Result<std::string> SerializeTableMetadata(const TableMetadata& metadata, std::string_view compression);

/// `<metadata path>/%05d-<uuid>[.gz].metadata.json`, number = that of `previous_location` + 1 (0 when empty
/// or unparsable... -1 + 1).
std::string NewMetadataLocation(const TableMetadata& metadata, std::string_view previous_location,
                                std::string_view uuid);

}  // namespace firn::iceberg
