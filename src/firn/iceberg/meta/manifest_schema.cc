#include "firn/iceberg/meta/manifest_schema.h"

#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace firn::iceberg {

namespace {

using Json = nlohmann::ordered_json;

struct KnownName {
  std::string_view name;
  int32_t id;
};

constexpr std::array kKnownNames = {
    KnownName{"status", entry_field::kStatus},
    KnownName{"snapshot_id", entry_field::kSnapshotId},
    KnownName{"data_file", entry_field::kDataFile},
    KnownName{"file_sequence_number", entry_field::kFileSequenceNumber},
    KnownName{"file_path", file_field::kFilePath},
    KnownName{"file_format", file_field::kFileFormat},
    KnownName{"partition", file_field::kPartition},
    KnownName{"record_count", file_field::kRecordCount},
    KnownName{"file_size_in_bytes", file_field::kFileSize},
    KnownName{"column_sizes", file_field::kColumnSizes},
    KnownName{"value_counts", file_field::kValueCounts},
    KnownName{"null_value_counts", file_field::kNullValueCounts},
    KnownName{"nan_value_counts", file_field::kNanValueCounts},
    KnownName{"lower_bounds", file_field::kLowerBounds},
    KnownName{"upper_bounds", file_field::kUpperBounds},
    KnownName{"split_offsets", file_field::kSplitOffsets},
    KnownName{"manifest_path", list_field::kPath},
    KnownName{"manifest_length", list_field::kLength},
    KnownName{"partition_spec_id", list_field::kSpecId},
    KnownName{"added_snapshot_id", list_field::kAddedSnapshotId},
    KnownName{"added_files_count", list_field::kAddedFilesCount},
    KnownName{"added_data_files_count", list_field::kAddedFilesCount},
    KnownName{"existing_files_count", list_field::kExistingFilesCount},
    KnownName{"existing_data_files_count", list_field::kExistingFilesCount},
    KnownName{"deleted_files_count", list_field::kDeletedFilesCount},
    KnownName{"deleted_data_files_count", list_field::kDeletedFilesCount},
    KnownName{"added_rows_count", list_field::kAddedRowsCount},
    KnownName{"existing_rows_count", list_field::kExistingRowsCount},
    KnownName{"deleted_rows_count", list_field::kDeletedRowsCount},
    KnownName{"partitions", list_field::kPartitions},
    KnownName{"contains_null", list_field::kContainsNull},
    KnownName{"contains_nan", list_field::kContainsNan},
    KnownName{"lower_bound", list_field::kLowerBound},
    KnownName{"upper_bound", list_field::kUpperBound},
};

Json Required(const char* name, int32_t id, Json type) {
  return {{"name", name}, {"type", std::move(type)}, {"field-id", id}};
}

Json Optional(const char* name, int32_t id, Json type) {
  return {{"name", name},
          {"type", Json::array({"null", std::move(type)})},
          {"default", nullptr},
          {"field-id", id}};
}

Json Record(std::string name, Json fields) {
  return {{"type", "record"}, {"name", std::move(name)}, {"fields", std::move(fields)}};
}

Json MapById(int32_t key_id, int32_t value_id, const char* value_type) {
  auto fields = Json::array({Required("key", key_id, "int"), Required("value", value_id, value_type)});
  return {{"type", "array"},
          {"items", Record(fmt::format("k{}_v{}", key_id, value_id), fields)},
          {"logicalType", "map"}};
}

Json List(int32_t element_id, const char* element) {
  return {{"type", "array"}, {"items", element}, {"element-id", element_id}};
}

Json Logical(const char* type, const char* logical) { return {{"type", type}, {"logicalType", logical}}; }

Json Timestamp(const char* logical, bool adjust_to_utc) {
  return {{"type", "long"}, {"logicalType", logical}, {"adjust-to-utc", adjust_to_utc}};
}

/// Avro type of a partition value. Named types get the partition field's id into their names: a name may be
/// defined only once, and not every reader follows references to one.
Result<Json> PartitionValueType(const NestedField& field) {
  const Type& type = *field.type;
  auto named = [&](int32_t size) -> Json {
    return {{"type", "fixed"}, {"name", fmt::format("p{}_fixed_{}", field.id, size)}, {"size", size}};
  };
  switch (type.id()) {
    case TypeId::kBoolean:
    case TypeId::kInt:
    case TypeId::kLong:
    case TypeId::kFloat:
    case TypeId::kDouble:
    case TypeId::kString:
      return Json(type.ToString());
    case TypeId::kDate:
      return Logical("int", "date");
    case TypeId::kTime:
      return Logical("long", "time-micros");
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
      return Timestamp("timestamp-micros", type.id() == TypeId::kTimestampTz);
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return Timestamp("timestamp-nanos", type.id() == TypeId::kTimestampTzNs);
    case TypeId::kBinary:
      return Json("bytes");
    case TypeId::kFixed:
      return named(type.length());
    case TypeId::kUuid: {
      auto uuid = named(16);
      uuid["logicalType"] = "uuid";
      return uuid;
    }
    case TypeId::kDecimal: {
      auto decimal = named(DecimalRequiredBytes(type.precision()));
      decimal["logicalType"] = "decimal";
      decimal["precision"] = type.precision();
      decimal["scale"] = type.scale();
      return decimal;
    }
    default:
      return Error(ErrorKind::kUnsupported,
                   fmt::format("partition field '{}': no partition value can be of type {}", field.name,
                               type.ToString()));
  }
}

Result<Json> PartitionRecord(const Type& partition_type) {
  Json fields = Json::array();
  std::set<std::string> names;
  for (const auto& field : partition_type.fields()) {
    std::string name = avro::LegalName(field.name);
    if (!names.insert(name).second) name += fmt::format("_{}", field.id);
    names.insert(name);
    // The source column is gone: only nulls are left to write.
    Json type = "null";
    if (field.type->id() != TypeId::kUnknown) {
      FIRN_ASSIGN(auto value_type, PartitionValueType(field));
      type = Json::array({"null", std::move(value_type)});
    }
    Json entry = {{"name", name}, {"type", std::move(type)}, {"default", nullptr}, {"field-id", field.id}};
    if (name != field.name) entry["iceberg-field-name"] = field.name;
    fields.push_back(std::move(entry));
  }
  return Record("r102", std::move(fields));
}

Result<Json> DataFileRecord(int format_version, const Type& partition_type) {
  using namespace file_field;  // NOLINT(google-build-using-namespace): constants of the table below
  FIRN_ASSIGN(auto partition, PartitionRecord(partition_type));
  Json fields = Json::array();
  fields.push_back(Required("content", kContent, "int"));
  fields.push_back(Required("file_path", kFilePath, "string"));
  fields.push_back(Required("file_format", kFileFormat, "string"));
  fields.push_back(Required("partition", kPartition, std::move(partition)));
  fields.push_back(Required("record_count", kRecordCount, "long"));
  fields.push_back(Required("file_size_in_bytes", kFileSize, "long"));
  fields.push_back(Optional("column_sizes", kColumnSizes, MapById(117, 118, "long")));
  fields.push_back(Optional("value_counts", kValueCounts, MapById(119, 120, "long")));
  fields.push_back(Optional("null_value_counts", kNullValueCounts, MapById(121, 122, "long")));
  fields.push_back(Optional("nan_value_counts", kNanValueCounts, MapById(138, 139, "long")));
  fields.push_back(Optional("lower_bounds", kLowerBounds, MapById(126, 127, "bytes")));
  fields.push_back(Optional("upper_bounds", kUpperBounds, MapById(129, 130, "bytes")));
  fields.push_back(Optional("key_metadata", kKeyMetadata, "bytes"));
  fields.push_back(Optional("split_offsets", kSplitOffsets, List(133, "long")));
  fields.push_back(Optional("equality_ids", kEqualityIds, List(136, "int")));
  fields.push_back(Optional("sort_order_id", kSortOrderId, "int"));
  if (format_version >= 3) fields.push_back(Optional("first_row_id", kFirstRowId, "long"));
  fields.push_back(Optional("referenced_data_file", kReferencedDataFile, "string"));
  if (format_version >= 3) {
    fields.push_back(Optional("content_offset", kContentOffset, "long"));
    fields.push_back(Optional("content_size_in_bytes", kContentSize, "long"));
  }
  return Record("r2", std::move(fields));
}

}  // namespace

int32_t ManifestFieldId(const avro::Field& field) {
  if (field.field_id) return *field.field_id;
  for (const auto& known : kKnownNames) {
    if (known.name == field.name) return known.id;
  }
  return -1;
}

std::string ManifestListSchemaJson(int format_version) {
  using namespace list_field;  // NOLINT(google-build-using-namespace): constants of the table below
  auto summary = Record("r508", Json::array({Required("contains_null", kContainsNull, "boolean"),
                                             Optional("contains_nan", kContainsNan, "boolean"),
                                             Optional("lower_bound", kLowerBound, "bytes"),
                                             Optional("upper_bound", kUpperBound, "bytes")}));
  Json summaries = {{"type", "array"}, {"items", std::move(summary)}, {"element-id", 508}};
  Json fields = Json::array();
  fields.push_back(Required("manifest_path", kPath, "string"));
  fields.push_back(Required("manifest_length", kLength, "long"));
  fields.push_back(Required("partition_spec_id", kSpecId, "int"));
  fields.push_back(Required("content", kContent, "int"));
  fields.push_back(Required("sequence_number", kSequenceNumber, "long"));
  fields.push_back(Required("min_sequence_number", kMinSequenceNumber, "long"));
  fields.push_back(Required("added_snapshot_id", kAddedSnapshotId, "long"));
  fields.push_back(Required("added_files_count", kAddedFilesCount, "int"));
  fields.push_back(Required("existing_files_count", kExistingFilesCount, "int"));
  fields.push_back(Required("deleted_files_count", kDeletedFilesCount, "int"));
  fields.push_back(Required("added_rows_count", kAddedRowsCount, "long"));
  fields.push_back(Required("existing_rows_count", kExistingRowsCount, "long"));
  fields.push_back(Required("deleted_rows_count", kDeletedRowsCount, "long"));
  fields.push_back(Optional("partitions", kPartitions, std::move(summaries)));
  fields.push_back(Optional("key_metadata", kKeyMetadata, "bytes"));
  if (format_version >= 3) fields.push_back(Optional("first_row_id", kFirstRowId, "long"));
  return Record("manifest_file", std::move(fields)).dump();
}

Result<std::string> ManifestSchemaJson(int format_version, const Type& partition_type) {
  using namespace entry_field;  // NOLINT(google-build-using-namespace): constants of the table below
  FIRN_ASSIGN(auto file, DataFileRecord(format_version, partition_type));
  Json fields = Json::array();
  fields.push_back(Required("status", kStatus, "int"));
  fields.push_back(Optional("snapshot_id", kSnapshotId, "long"));
  fields.push_back(Optional("sequence_number", kSequenceNumber, "long"));
  fields.push_back(Optional("file_sequence_number", kFileSequenceNumber, "long"));
  fields.push_back(Required("data_file", kDataFile, std::move(file)));
  return Record("manifest_entry", std::move(fields)).dump();
}

}  // namespace firn::iceberg
