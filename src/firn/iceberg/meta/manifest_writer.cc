#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/avro/container.h"
#include "firn/iceberg/meta/avro_fields.h"
#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/meta/manifest_schema.h"
#include "firn/iceberg/meta/partition_avro.h"
#include "firn/iceberg/meta/partition_summary.h"

namespace firn::iceberg {

namespace {

using avro::BinaryWriter;

void WriteMapValue(BinaryWriter& writer, int64_t value) { writer.WriteLong(value); }
void WriteMapValue(BinaryWriter& writer, const std::string& value) { writer.WriteBytes(value); }

/// An empty map or list is written as null: "not known".
template <typename V>
void WriteMap(BinaryWriter& writer, const std::map<int32_t, V>& map) {
  WritePresence(writer, !map.empty());
  if (map.empty()) return;
  writer.BeginItems(map.size());
  for (const auto& [key, value] : map) {
    writer.WriteInt(key);
    WriteMapValue(writer, value);
  }
  writer.EndItems();
}

template <typename T>
void WriteList(BinaryWriter& writer, const std::vector<T>& list) {
  WritePresence(writer, !list.empty());
  if (list.empty()) return;
  writer.BeginItems(list.size());
  for (T item : list) writer.WriteLong(item);
  writer.EndItems();
}

/// Encodes entries in the order of ManifestSchemaJson.
class EntryWriter {
 public:
  EntryWriter(int format_version, const Type& partition_type)
      : format_version_(format_version), partition_type_(partition_type) {}

  void Write(BinaryWriter& writer, const ManifestEntry& entry, const PartitionValues& partition) const {
    writer.WriteInt(static_cast<int32_t>(entry.status));
    WriteOptional(writer, entry.snapshot_id);
    WriteOptional(writer, entry.sequence_number);
    WriteOptional(writer, entry.file_sequence_number);
    WriteFile(writer, entry.file, partition);
  }

 private:
  void WriteFile(BinaryWriter& writer, const DataFile& file, const PartitionValues& partition) const {
    writer.WriteInt(static_cast<int32_t>(file.content));
    writer.WriteBytes(file.file_path);
    writer.WriteBytes(file.file_format);
    WritePartition(writer, partition);
    writer.WriteLong(file.record_count);
    writer.WriteLong(file.file_size_bytes);
    WriteMap(writer, file.column_sizes);
    WriteMap(writer, file.value_counts);
    WriteMap(writer, file.null_value_counts);
    WriteMap(writer, file.nan_value_counts);
    WriteMap(writer, file.lower_bounds);
    WriteMap(writer, file.upper_bounds);
    WriteOptional(writer, file.key_metadata);
    WriteList(writer, file.split_offsets);
    WriteList(writer, file.equality_ids);
    WriteOptional(writer, file.sort_order_id);
    if (format_version_ >= 3) WriteOptional(writer, file.first_row_id);
    WriteOptional(writer, file.referenced_data_file);
    if (format_version_ >= 3) {
      WriteOptional(writer, file.content_offset);
      WriteOptional(writer, file.content_size_bytes);
    }
  }

  void WritePartition(BinaryWriter& writer, const PartitionValues& partition) const {
    for (size_t i = 0; i < partition.values.size(); ++i) {
      // A field of unknown type is plain null in the schema, without a union around it.
      if (partition_type_.fields()[i].type->id() == TypeId::kUnknown) continue;
      const Literal& value = partition.values[i];
      WritePresence(writer, !value.is_null());
      if (!value.is_null()) WritePartitionValue(writer, value);
    }
  }

  int format_version_;
  const Type& partition_type_;
};

Result<avro::Codec> ToCodec(std::string_view name) {
  if (name == "gzip") return avro::Codec::kDeflate;
  if (name == "uncompressed") return avro::Codec::kNull;
  if (name == "snappy") return avro::Codec::kSnappy;
  if (name == "zstd") return avro::Codec::kZstandard;
  return Error(ErrorKind::kInvalidArgument, fmt::format("write.manifest.compression-codec is '{}'", name))
      .WithRemedy("Supported are gzip, zstd, snappy and uncompressed.");
}

Result<PartitionValues> ToPartitionType(const DataFile& file, const Type& partition_type) {
  if (file.partition.values.size() != partition_type.fields().size()) {
    return Error(ErrorKind::kInternal,
                 fmt::format("{}: {} partition values for a spec of {} fields", file.file_path,
                             file.partition.values.size(), partition_type.fields().size()));
  }
  PartitionValues partition;
  for (size_t i = 0; i < file.partition.values.size(); ++i) {
    FIRN_ASSIGN_CTX(auto value,
                    ConvertPartitionValue(file.partition.values[i], partition_type.fields()[i].type),
                    file.file_path);
    if (value.type()->id() == TypeId::kFixed && !value.is_null()) {
      return Error(ErrorKind::kUnsupported,
                   fmt::format(
                       "partition field '{}' holds values of type {}, which engines encode in different ways",
                       partition_type.fields()[i].name, value.type()->ToString()))
          .WithRemedy("Partition by bucket(N, column) instead.");
    }
    partition.values.push_back(std::move(value));
  }
  return partition;
}

/// Live entries that are not new must say which sequence numbers they have; only new ones inherit.
Status CheckEntry(const ManifestEntry& entry) {
  if (entry.status == EntryStatus::kAdded || (entry.sequence_number && entry.file_sequence_number))
    return Ok();
  return Error(ErrorKind::kInternal,
               entry.file.file_path + ": an existing or deleted entry without sequence numbers");
}

void Count(const ManifestEntry& entry, ManifestFile& manifest) {
  auto& files = entry.status == EntryStatus::kAdded      ? manifest.added_files_count
                : entry.status == EntryStatus::kExisting ? manifest.existing_files_count
                                                         : manifest.deleted_files_count;
  auto& rows = entry.status == EntryStatus::kAdded      ? manifest.added_rows_count
               : entry.status == EntryStatus::kExisting ? manifest.existing_rows_count
                                                        : manifest.deleted_rows_count;
  files = *files + 1;
  rows = *rows + entry.file.record_count;
  if (!entry.live() || !entry.sequence_number) return;
  bool first = manifest.min_sequence_number == kInheritedSequenceNumber;
  manifest.min_sequence_number =
      first ? *entry.sequence_number : std::min(manifest.min_sequence_number, *entry.sequence_number);
}

ManifestFile NewManifest(const std::string& location, const PartitionSpec& spec, ManifestContent content,
                         int64_t snapshot_id) {
  ManifestFile manifest;
  manifest.path = location;
  manifest.spec_id = spec.spec_id;
  manifest.content = content;
  manifest.sequence_number = kInheritedSequenceNumber;
  manifest.min_sequence_number = kInheritedSequenceNumber;
  manifest.added_snapshot_id = snapshot_id;
  manifest.added_files_count = manifest.existing_files_count = manifest.deleted_files_count = 0;
  manifest.added_rows_count = manifest.existing_rows_count = manifest.deleted_rows_count = 0;
  return manifest;
}

std::map<std::string, std::string> KeyValues(const Schema& schema, const PartitionSpec& spec,
                                             ManifestContent content, int format_version) {
  return {{"schema", ToJson(schema).dump()},
          {"schema-id", std::to_string(schema.schema_id())},
          {"partition-spec", FieldsToJson(spec).dump()},
          {"partition-spec-id", std::to_string(spec.spec_id)},
          {"format-version", std::to_string(format_version)},
          {"content", content == ManifestContent::kData ? "data" : "deletes"}};
}

}  // namespace

Result<ManifestFile> WriteManifest(store::Store& store, const std::string& location, const Schema& schema,
                                   const PartitionSpec& spec, ManifestContent content, int64_t snapshot_id,
                                   const std::vector<ManifestEntry>& entries,
                                   const ManifestWriteOptions& options) {
  FIRN_ASSIGN(auto partition_type, spec.PartitionType(schema));
  FIRN_ASSIGN(auto schema_json, ManifestSchemaJson(options.format_version, *partition_type));
  FIRN_ASSIGN(auto codec, ToCodec(options.compression));
  avro::ContainerWriter writer(schema_json, KeyValues(schema, spec, content, options.format_version),
                               {.codec = codec, .level = options.compression_level, .sync_seed = location});
  EntryWriter entry_writer(options.format_version, *partition_type);
  ManifestFile manifest = NewManifest(location, spec, content, snapshot_id);
  PartitionSummary summary(partition_type->fields().size());
  for (const auto& entry : entries) {
    FIRN_TRY(CheckEntry(entry));
    FIRN_ASSIGN(auto partition, ToPartitionType(entry.file, *partition_type));
    FIRN_TRY(writer.Append([&](BinaryWriter& out) { entry_writer.Write(out, entry, partition); }));
    summary.Add(partition);
    Count(entry, manifest);
  }
  FIRN_ASSIGN(manifest.partitions, summary.Finish());
  FIRN_ASSIGN(auto bytes, writer.Finish());
  manifest.length_bytes = static_cast<int64_t>(bytes.size());
  FIRN_TRY_CTX(store.WriteAll(location, bytes, store::IfExists::kFail), "manifest");
  return manifest;
}

}  // namespace firn::iceberg
