#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/iceberg/model/gzip.h"
#include "firn/iceberg/model/json_access.h"
#include "firn/iceberg/model/table_metadata.h"

namespace firn::iceberg {

namespace {

using nlohmann::json;

constexpr int kMaxFormatVersion = 3;
constexpr int64_t kNoSnapshot = -1;
constexpr int32_t kNoPartitionFieldId = kFirstPartitionFieldId - 1;
constexpr size_t kMaxMetadataBytes = size_t{1} << 30;

/// Reads every item of a list with `read`; an absent list is empty.
template <typename T, typename Read>
Result<std::vector<T>> ReadList(const json& object, const char* key, Read read) {
  FIRN_ASSIGN(const json* array, FindArray(object, key));
  std::vector<T> items;
  if (array == nullptr) return items;
  items.reserve(array->size());
  for (const json& item : *array) {
    FIRN_ASSIGN_CTX(T value, read(item), fmt::format("{}[{}]", key, items.size()));
    items.push_back(std::move(value));
  }
  return items;
}

Result<SnapshotLogEntry> ReadSnapshotLogEntry(const json& value) {
  FIRN_TRY(RequireObject(value, "entry"));
  SnapshotLogEntry entry;
  FIRN_ASSIGN(entry.timestamp_ms, GetInt64(value, "timestamp-ms"));
  FIRN_ASSIGN(entry.snapshot_id, GetInt64(value, "snapshot-id"));
  return entry;
}

Result<MetadataLogEntry> ReadMetadataLogEntry(const json& value) {
  FIRN_TRY(RequireObject(value, "entry"));
  MetadataLogEntry entry;
  FIRN_ASSIGN(entry.timestamp_ms, GetInt64(value, "timestamp-ms"));
  FIRN_ASSIGN(entry.metadata_file, GetString(value, "metadata-file"));
  return entry;
}

Error Corrupt(std::string message) { return Error(ErrorKind::kCorrupt, std::move(message)); }

/// Fills a TableMetadata step by step; each step reads one group of fields.
class MetadataReader {
 public:
  explicit MetadataReader(const json& root) : root_(root) {}

  Result<TableMetadata> Read() && {
    FIRN_TRY(RequireObject(root_, "table metadata"));
    FIRN_TRY(ReadHead());
    FIRN_TRY(ReadSchemas());
    FIRN_TRY(ReadSpecs());
    FIRN_TRY(ReadSortOrders());
    FIRN_TRY(ReadSnapshots());
    FIRN_TRY(ReadRefs());
    FIRN_TRY(ReadRest());
    return std::move(metadata_);
  }

 private:
  bool is_v1() const { return metadata_.format_version == 1; }

  /// Required from v2 on, optional in v1.
  template <typename T>
  Result<T> SinceV2(Result<std::optional<T>> found, const char* key, T default_value) const {
    if (!found.ok()) return std::move(found).error();
    if (found->has_value()) return std::move(**found);
    if (!is_v1()) return Corrupt(fmt::format("'{}' is missing", key));
    return default_value;
  }

  Status ReadHead() {
    FIRN_ASSIGN(metadata_.format_version, GetInt32(root_, "format-version"));
    if (metadata_.format_version < 1)
      return Corrupt(fmt::format("format version {}", metadata_.format_version));
    if (metadata_.format_version > kMaxFormatVersion) {
      return Error(ErrorKind::kUnsupported, fmt::format("format version {} is newer than this program's {}",
                                                        metadata_.format_version, kMaxFormatVersion));
    }
    FIRN_ASSIGN(metadata_.table_uuid,
                SinceV2<std::string>(FindString(root_, "table-uuid"), "table-uuid", ""));
    FIRN_ASSIGN(metadata_.location, GetString(root_, "location"));
    FIRN_ASSIGN(metadata_.last_sequence_number,
                SinceV2<int64_t>(FindInt64(root_, "last-sequence-number"), "last-sequence-number", 0));
    FIRN_ASSIGN(metadata_.last_updated_ms, GetInt64(root_, "last-updated-ms"));
    FIRN_ASSIGN(metadata_.last_column_id, GetInt32(root_, "last-column-id"));
    FIRN_ASSIGN(auto properties, FindStringMap(root_, "properties"));
    if (properties) metadata_.properties = std::move(*properties);
    return Ok();
  }

  Status ReadSchemas() {
    FIRN_ASSIGN(metadata_.schemas, ReadList<SchemaPtr>(root_, "schemas", SchemaFromJson));
    if (metadata_.schemas.empty() && is_v1()) {
      FIRN_ASSIGN(const json* single, GetMember(root_, "schema"));
      FIRN_ASSIGN_CTX(SchemaPtr schema, SchemaFromJson(*single), "schema");
      metadata_.current_schema_id = schema->schema_id();
      metadata_.schemas.push_back(std::move(schema));
      return Ok();
    }
    FIRN_ASSIGN(metadata_.current_schema_id, GetInt32(root_, "current-schema-id"));
    if (metadata_.FindSchema(metadata_.current_schema_id) == nullptr) {
      return Corrupt(
          fmt::format("'current-schema-id' {} is none of the schemas", metadata_.current_schema_id));
    }
    return Ok();
  }

  Status ReadSpecs() {
    FIRN_ASSIGN(metadata_.partition_specs,
                ReadList<PartitionSpec>(root_, "partition-specs", PartitionSpecFromJson));
    if (metadata_.partition_specs.empty() && is_v1()) {
      FIRN_ASSIGN(const json* fields, GetMember(root_, "partition-spec"));
      PartitionSpec spec;
      FIRN_ASSIGN_CTX(spec.fields, PartitionFieldsFromJson(*fields), "partition-spec");
      metadata_.partition_specs.push_back(std::move(spec));
    } else {
      FIRN_ASSIGN(metadata_.default_spec_id, GetInt32(root_, "default-spec-id"));
    }
    if (metadata_.FindSpec(metadata_.default_spec_id) == nullptr) {
      return Corrupt(
          fmt::format("'default-spec-id' {} is none of the partition specs", metadata_.default_spec_id));
    }
    int32_t highest = kNoPartitionFieldId;
    for (const PartitionSpec& spec : metadata_.partition_specs) {
      for (const PartitionField& field : spec.fields) highest = std::max(highest, field.field_id);
    }
    FIRN_ASSIGN(metadata_.last_partition_id,
                SinceV2<int32_t>(FindInt32(root_, "last-partition-id"), "last-partition-id", highest));
    return Ok();
  }

  Status ReadSortOrders() {
    FIRN_ASSIGN(metadata_.sort_orders, ReadList<SortOrder>(root_, "sort-orders", SortOrderFromJson));
    if (metadata_.sort_orders.empty() && is_v1()) metadata_.sort_orders.emplace_back();
    FIRN_ASSIGN(metadata_.default_sort_order_id,
                SinceV2<int32_t>(FindInt32(root_, "default-sort-order-id"), "default-sort-order-id", 0));
    if (metadata_.FindSortOrder(metadata_.default_sort_order_id) == nullptr) {
      return Corrupt(fmt::format("'default-sort-order-id' {} is none of the sort orders",
                                 metadata_.default_sort_order_id));
    }
    return Ok();
  }

  Status ReadSnapshots() {
    FIRN_ASSIGN(metadata_.snapshots, ReadList<Snapshot>(root_, "snapshots", SnapshotFromJson));
    for (const Snapshot& snapshot : metadata_.snapshots) known_snapshots_.insert(snapshot.snapshot_id);
    FIRN_ASSIGN(metadata_.snapshot_log,
                ReadList<SnapshotLogEntry>(root_, "snapshot-log", ReadSnapshotLogEntry));
    FIRN_ASSIGN(metadata_.metadata_log,
                ReadList<MetadataLogEntry>(root_, "metadata-log", ReadMetadataLogEntry));
    FIRN_ASSIGN(metadata_.current_snapshot_id, FindInt64(root_, "current-snapshot-id"));
    if (metadata_.current_snapshot_id == kNoSnapshot) metadata_.current_snapshot_id.reset();
    return Ok();
  }

  Status ReadRefs() {
    const json* refs = FindMember(root_, "refs");
    if (refs != nullptr) {
      FIRN_TRY(RequireObject(*refs, "refs"));
      for (const auto& [name, value] : refs->items()) {
        FIRN_ASSIGN_CTX(SnapshotRef ref, SnapshotRefFromJson(value), fmt::format("refs.{}", name));
        metadata_.refs.emplace_hint(metadata_.refs.end(), name, ref);
      }
    }
    if (metadata_.current_snapshot_id && !metadata_.refs.contains(kMainBranch)) {
      metadata_.refs[kMainBranch].snapshot_id = *metadata_.current_snapshot_id;
    }
    return CheckRefs();
  }

  Status CheckRefs() const {
    for (const auto& [name, ref] : metadata_.refs) {
      if (!known_snapshots_.contains(ref.snapshot_id))
        return Corrupt(
            fmt::format("ref '{}' points to snapshot {}, which is not there", name, ref.snapshot_id));
    }
    const auto main = metadata_.refs.find(kMainBranch);
    if (main == metadata_.refs.end()) return Ok();
    if (main->second.type != RefType::kBranch) return Corrupt("ref 'main' is not a branch");
    if (metadata_.current_snapshot_id != main->second.snapshot_id) {
      return Corrupt(fmt::format("'current-snapshot-id' {} is not the snapshot {} of branch main",
                                 metadata_.current_snapshot_id.value_or(kNoSnapshot),
                                 main->second.snapshot_id));
    }
    return Ok();
  }

  Status ReadRest() {
    if (metadata_.format_version >= 3) {
      FIRN_ASSIGN(metadata_.next_row_id, GetInt64(root_, "next-row-id"));
    }
    FIRN_TRY(KeepList("statistics", metadata_.statistics));
    FIRN_TRY(KeepList("partition-statistics", metadata_.partition_statistics));
    return KeepList("encryption-keys", metadata_.encryption_keys);
  }

  Status KeepList(const char* key, json& kept) const {
    FIRN_ASSIGN(const json* array, FindArray(root_, key));
    kept = array == nullptr ? json::array() : *array;
    return Ok();
  }

  const json& root_;
  TableMetadata metadata_;
  std::set<int64_t> known_snapshots_;
};

template <typename T, typename Write>
json WriteList(const std::vector<T>& items, Write write) {
  json array = json::array();
  for (const T& item : items) array.push_back(write(item));
  return array;
}

json KeptList(const json& kept) { return kept.is_array() ? kept : json::array(); }

json HeadJson(const TableMetadata& metadata) {
  return {{"format-version", metadata.format_version},
          {"table-uuid", metadata.table_uuid},
          {"location", metadata.location},
          {"last-sequence-number", metadata.last_sequence_number},
          {"last-updated-ms", metadata.last_updated_ms},
          {"last-column-id", metadata.last_column_id},
          {"current-schema-id", metadata.current_schema_id},
          {"default-spec-id", metadata.default_spec_id},
          {"last-partition-id", metadata.last_partition_id},
          {"default-sort-order-id", metadata.default_sort_order_id},
          {"properties", metadata.properties}};
}

void PutHistory(json& value, const TableMetadata& metadata) {
  value["snapshots"] =
      WriteList(metadata.snapshots, [&](const Snapshot& s) { return ToJson(s, metadata.format_version); });
  value["snapshot-log"] = WriteList(metadata.snapshot_log, [](const SnapshotLogEntry& e) {
    return json{{"timestamp-ms", e.timestamp_ms}, {"snapshot-id", e.snapshot_id}};
  });
  value["metadata-log"] = WriteList(metadata.metadata_log, [](const MetadataLogEntry& e) {
    return json{{"timestamp-ms", e.timestamp_ms}, {"metadata-file", e.metadata_file}};
  });
  json refs = json::object();
  for (const auto& [name, ref] : metadata.refs) refs[name] = ToJson(ref);
  value["refs"] = std::move(refs);
  // As Java writes "none": -1 in v2, null in v3.
  if (metadata.current_snapshot_id) {
    value["current-snapshot-id"] = *metadata.current_snapshot_id;
  } else {
    value["current-snapshot-id"] = metadata.format_version >= 3 ? json(nullptr) : json(kNoSnapshot);
  }
}

}  // namespace

Result<TableMetadata> TableMetadataFromJson(const json& root) { return MetadataReader(root).Read(); }

Result<TableMetadata> ParseTableMetadata(std::string_view bytes, std::string_view location) {
  const auto read = [&]() -> Result<TableMetadata> {
    std::string unpacked;
    if (IsGzip(bytes)) {
      FIRN_ASSIGN(unpacked, GzipDecompress(bytes, kMaxMetadataBytes));
      bytes = unpacked;
    }
    FIRN_ASSIGN(const json root, ParseJson(bytes));
    return TableMetadataFromJson(root);
  };
  Result<TableMetadata> metadata = read();
  if (!metadata.ok())
    return std::move(metadata).error().WithContext(fmt::format("table metadata {}", location));
  return metadata;
}

json ToJson(const TableMetadata& metadata) {
  json value = HeadJson(metadata);
  value["schemas"] = WriteList(metadata.schemas, [](const SchemaPtr& s) { return ToJson(*s); });
  value["partition-specs"] =
      WriteList(metadata.partition_specs, [](const PartitionSpec& s) { return ToJson(s); });
  value["sort-orders"] = WriteList(metadata.sort_orders, [](const SortOrder& o) { return ToJson(o); });
  PutHistory(value, metadata);
  value["statistics"] = KeptList(metadata.statistics);
  value["partition-statistics"] = KeptList(metadata.partition_statistics);
  if (metadata.format_version >= 3) {
    value["next-row-id"] = metadata.next_row_id;
    if (metadata.encryption_keys.is_array() && !metadata.encryption_keys.empty())
      value["encryption-keys"] = metadata.encryption_keys;
  }
  return value;
}

Result<std::string> SerializeTableMetadata(const TableMetadata& metadata, std::string_view compression) {
  if (metadata.format_version < 2) {
    return Error(ErrorKind::kUnsupported, "metadata of format version 1 is not written")
        .WithRemedy("Upgrade the table to format version 2.");
  }
  if (!compression.empty() && compression != "none" && compression != "gzip") {
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("metadata compression '{}' is neither none nor gzip", compression));
  }
  FIRN_ASSIGN(std::string text, DumpJson(ToJson(metadata)));
  return compression == "gzip" ? GzipCompress(text) : text;
}

}  // namespace firn::iceberg
