#include <limits>
#include <utility>

#include <fmt/format.h>

#include "firn/avro/container.h"
#include "firn/iceberg/meta/avro_fields.h"
#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/meta/manifest_schema.h"
#include "firn/iceberg/meta/partition_avro.h"

namespace firn::iceberg {

namespace {

using avro::BinaryReader;
using avro::Node;

Result<FileContent> ToFileContent(int64_t value) {
  if (value < 0 || value > 2) return Error(ErrorKind::kCorrupt, fmt::format("file content {}", value));
  return static_cast<FileContent>(value);
}

Result<EntryStatus> ToStatus(int64_t value) {
  if (value < 0 || value > 2) return Error(ErrorKind::kCorrupt, fmt::format("entry status {}", value));
  return static_cast<EntryStatus>(value);
}

/// Reads the entries of one manifest, by the file's own schema and the ids in it.
class EntryReader {
 public:
  EntryReader(const PartitionSpec& spec, TypePtr partition_type, FixedForm fixed_form)
      : spec_(spec), partition_type_(std::move(partition_type)), fixed_form_(fixed_form) {}

  Result<ManifestEntry> Read(BinaryReader& reader, const Node& record) const {
    ManifestEntry entry;
    entry.file.spec_id = spec_.spec_id;
    for (const auto& field : record.fields) {
      FIRN_TRY_CTX(ReadEntryField(reader, field, entry), field.name);
    }
    return entry;
  }

 private:
  Status ReadEntryField(BinaryReader& reader, const avro::Field& field, ManifestEntry& entry) const {
    const Node& node = *field.type;
    switch (ManifestFieldId(field)) {
      case entry_field::kStatus: {
        FIRN_ASSIGN(auto value, ReadInteger(reader, node));
        FIRN_ASSIGN(entry.status, ToStatus(value));
        return Ok();
      }
      case entry_field::kSnapshotId:
        return ReadInto(reader, node, entry.snapshot_id);
      case entry_field::kSequenceNumber:
        return ReadInto(reader, node, entry.sequence_number);
      case entry_field::kFileSequenceNumber:
        return ReadInto(reader, node, entry.file_sequence_number);
      case entry_field::kDataFile:
        return ReadDataFile(reader, node, entry.file);
      default:
        return reader.Skip(node);
    }
  }

  Status ReadDataFile(BinaryReader& reader, const Node& node, DataFile& file) const {
    if (node.kind != avro::Kind::kRecord) return Error(ErrorKind::kCorrupt, "not a record");
    for (const auto& field : node.fields) FIRN_TRY_CTX(ReadFileField(reader, field, file), field.name);
    if (file.file_path.empty()) return Error(ErrorKind::kCorrupt, "an entry without file_path");
    if (file.record_count < 0) return Error(ErrorKind::kCorrupt, file.file_path + ": negative record_count");
    return Ok();
  }

  Status ReadFileField(BinaryReader& reader, const avro::Field& field, DataFile& file) const {
    const Node& node = *field.type;
    switch (ManifestFieldId(field)) {
      case file_field::kContent: {
        FIRN_ASSIGN(auto value, ReadInteger(reader, node));
        FIRN_ASSIGN(file.content, ToFileContent(value));
        return Ok();
      }
      case file_field::kFilePath:
        return ReadInto(reader, node, file.file_path);
      case file_field::kFileFormat:
        return ReadInto(reader, node, file.file_format);
      case file_field::kPartition:
        return ReadPartition(reader, node, file.partition);
      case file_field::kRecordCount:
        return ReadInto(reader, node, file.record_count);
      case file_field::kFileSize:
        return ReadInto(reader, node, file.file_size_bytes);
      case file_field::kColumnSizes:
        return ReadInto(reader, node, file.column_sizes);
      case file_field::kValueCounts:
        return ReadInto(reader, node, file.value_counts);
      case file_field::kNullValueCounts:
        return ReadInto(reader, node, file.null_value_counts);
      case file_field::kNanValueCounts:
        return ReadInto(reader, node, file.nan_value_counts);
      case file_field::kLowerBounds:
        return ReadInto(reader, node, file.lower_bounds);
      case file_field::kUpperBounds:
        return ReadInto(reader, node, file.upper_bounds);
      case file_field::kKeyMetadata:
        return ReadInto(reader, node, file.key_metadata);
      case file_field::kSplitOffsets:
        return ReadInto(reader, node, file.split_offsets);
      case file_field::kEqualityIds:
        return ReadInto(reader, node, file.equality_ids);
      case file_field::kSortOrderId:
        return ReadInto(reader, node, file.sort_order_id);
      case file_field::kFirstRowId:
        return ReadInto(reader, node, file.first_row_id);
      case file_field::kReferencedDataFile:
        return ReadInto(reader, node, file.referenced_data_file);
      case file_field::kContentOffset:
        return ReadInto(reader, node, file.content_offset);
      case file_field::kContentSize:
        return ReadInto(reader, node, file.content_size_bytes);
      default:
        return reader.Skip(node);
    }
  }

  Status ReadPartition(BinaryReader& reader, const Node& node, PartitionValues& partition) const {
    if (node.kind != avro::Kind::kRecord) return Error(ErrorKind::kCorrupt, "not a record");
    const auto& types = partition_type_->fields();
    partition.values.clear();
    for (const auto& type : types) partition.values.push_back(Literal::Null(type.type));
    for (const auto& field : node.fields) {
      auto index = FieldIndex(field);
      if (!index) {
        FIRN_TRY(reader.Skip(*field.type));
        continue;
      }
      FIRN_ASSIGN_CTX(partition.values[*index],
                      ReadPartitionValue(reader, *field.type, types[*index].type, fixed_form_), field.name);
    }
    return Ok();
  }

  std::optional<size_t> FieldIndex(const avro::Field& field) const {
    for (size_t i = 0; i < spec_.fields.size(); ++i) {
      const auto& wanted = spec_.fields[i];
      if (field.field_id ? *field.field_id == wanted.field_id : field.name == wanted.name) return i;
    }
    return std::nullopt;
  }

  const PartitionSpec& spec_;
  TypePtr partition_type_;
  FixedForm fixed_form_;
};

/// Fills in what an entry inherits from its manifest's row in the list (spec, "Sequence Number Inheritance").
void Inherit(ManifestEntry& entry, const ManifestFile& manifest) {
  if (!entry.snapshot_id) entry.snapshot_id = manifest.added_snapshot_id;
  // A manifest with sequence number 0 is of a v1 table: all its entries have 0.
  if (manifest.sequence_number != 0 && entry.status != EntryStatus::kAdded) return;
  if (!entry.sequence_number) entry.sequence_number = manifest.sequence_number;
  if (!entry.file_sequence_number) entry.file_sequence_number = manifest.sequence_number;
}

/// Row ids of files that have none of their own run on from the manifest's first one. Deleted entries take
/// none, as in Java.
void InheritRowId(ManifestEntry& entry, std::optional<int64_t>& next_row_id) {
  if (!next_row_id) {
    entry.file.first_row_id.reset();
    return;
  }
  if (entry.status == EntryStatus::kDeleted || entry.file.first_row_id) return;
  entry.file.first_row_id = next_row_id;
  if (*next_row_id <= std::numeric_limits<int64_t>::max() - entry.file.record_count)
    *next_row_id += entry.file.record_count;
}

Result<std::vector<ManifestEntry>> ReadEntries(std::string_view bytes, const ManifestFile& manifest,
                                               const PartitionSpec& spec, TypePtr partition_type,
                                               FixedForm fixed_form) {
  FIRN_ASSIGN(auto container, avro::ContainerReader::Open(bytes));
  const Node& record = container.schema().root();
  if (record.kind != avro::Kind::kRecord) return Error(ErrorKind::kCorrupt, "not a manifest");
  EntryReader entry_reader(spec, std::move(partition_type), fixed_form);
  std::vector<ManifestEntry> entries;
  auto next_row_id = manifest.content == ManifestContent::kData ? manifest.first_row_id : std::nullopt;
  auto each = [&](BinaryReader& reader) -> Status {
    FIRN_ASSIGN(auto entry, entry_reader.Read(reader, record));
    if (entry.file.file_path.empty()) return Error(ErrorKind::kCorrupt, "an entry without data_file");
    Inherit(entry, manifest);
    InheritRowId(entry, next_row_id);
    entries.push_back(std::move(entry));
    return Ok();
  };
  FIRN_TRY(container.ForEach(each));
  return entries;
}

}  // namespace

Result<std::vector<ManifestEntry>> ReadManifest(store::Store& store, const ManifestFile& manifest,
                                                const TableMetadata& metadata) {
  const PartitionSpec* spec = metadata.FindSpec(manifest.spec_id);
  if (spec == nullptr) {
    return Error(ErrorKind::kCorrupt, fmt::format("manifest {}: partition spec {} is not in the table",
                                                  manifest.path, manifest.spec_id));
  }
  FIRN_ASSIGN_CTX(auto bytes, store.ReadAll(manifest.path), "manifest");
  TypePtr partition_type = PartitionTypeForReading(metadata, *spec);
  auto entries = ReadEntries(bytes, manifest, *spec, partition_type, FixedForm::kPlain);
  // Read the one way, a file of the other does not end where it should.
  if (!entries.ok() && HasFixedField(*partition_type)) {
    auto again = ReadEntries(bytes, manifest, *spec, partition_type, FixedForm::kWithLength);
    if (again.ok()) return again;
  }
  if (!entries.ok()) return std::move(entries).error().WithContext("manifest " + manifest.path);
  return entries;
}

}  // namespace firn::iceberg
