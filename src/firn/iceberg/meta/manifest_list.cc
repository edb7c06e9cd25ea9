#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "firn/avro/container.h"
#include "firn/iceberg/meta/avro_fields.h"
#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/meta/manifest_schema.h"

namespace firn::iceberg {

namespace {

using avro::BinaryReader;
using avro::BinaryWriter;
using avro::Node;

// --- reading

Status ReadSummaryField(BinaryReader& reader, const avro::Field& field, FieldSummary& summary) {
  switch (ManifestFieldId(field)) {
    case list_field::kContainsNull:
      return ReadInto(reader, *field.type, summary.contains_null);
    case list_field::kContainsNan:
      return ReadInto(reader, *field.type, summary.contains_nan);
    case list_field::kLowerBound:
      return ReadInto(reader, *field.type, summary.lower_bound);
    case list_field::kUpperBound:
      return ReadInto(reader, *field.type, summary.upper_bound);
    default:
      return reader.Skip(*field.type);
  }
}

Status ReadSummaries(BinaryReader& reader, const Node& node, std::optional<std::vector<FieldSummary>>& out) {
  FIRN_ASSIGN(const Node* list, ReadOptional(reader, node));
  if (list == nullptr) return Ok();
  if (list->kind != avro::Kind::kArray || list->items->kind != avro::Kind::kRecord) {
    return Error(ErrorKind::kCorrupt, "not a list of field summaries");
  }
  out.emplace();
  return reader.ReadItems(*list, [&]() -> Status {
    auto& summary = out->emplace_back();
    for (const auto& field : list->items->fields) FIRN_TRY(ReadSummaryField(reader, field, summary));
    return Ok();
  });
}

Status ReadContent(BinaryReader& reader, const Node& node, ManifestContent& out) {
  FIRN_ASSIGN(auto value, ReadInteger(reader, node));
  if (value < 0 || value > 1) return Error(ErrorKind::kCorrupt, fmt::format("manifest content {}", value));
  out = static_cast<ManifestContent>(value);
  return Ok();
}

Status ReadListField(BinaryReader& reader, const avro::Field& field, ManifestFile& manifest) {
  const Node& node = *field.type;
  switch (ManifestFieldId(field)) {
    case list_field::kPath:
      return ReadInto(reader, node, manifest.path);
    case list_field::kLength:
      return ReadInto(reader, node, manifest.length_bytes);
    case list_field::kSpecId:
      return ReadInto(reader, node, manifest.spec_id);
    case list_field::kContent:
      return ReadContent(reader, node, manifest.content);
    case list_field::kSequenceNumber:
      return ReadInto(reader, node, manifest.sequence_number);
    case list_field::kMinSequenceNumber:
      return ReadInto(reader, node, manifest.min_sequence_number);
    case list_field::kAddedSnapshotId:
      return ReadInto(reader, node, manifest.added_snapshot_id);
    case list_field::kAddedFilesCount:
      return ReadInto(reader, node, manifest.added_files_count);
    case list_field::kExistingFilesCount:
      return ReadInto(reader, node, manifest.existing_files_count);
    case list_field::kDeletedFilesCount:
      return ReadInto(reader, node, manifest.deleted_files_count);
    case list_field::kAddedRowsCount:
      return ReadInto(reader, node, manifest.added_rows_count);
    case list_field::kExistingRowsCount:
      return ReadInto(reader, node, manifest.existing_rows_count);
    case list_field::kDeletedRowsCount:
      return ReadInto(reader, node, manifest.deleted_rows_count);
    case list_field::kPartitions:
      return ReadSummaries(reader, node, manifest.partitions);
    case list_field::kKeyMetadata:
      return ReadInto(reader, node, manifest.key_metadata);
    case list_field::kFirstRowId:
      return ReadInto(reader, node, manifest.first_row_id);
    default:
      return reader.Skip(node);
  }
}

Result<std::vector<ManifestFile>> ParseList(std::string_view bytes) {
  FIRN_ASSIGN(auto container, avro::ContainerReader::Open(bytes));
  const Node& record = container.schema().root();
  if (record.kind != avro::Kind::kRecord) return Error(ErrorKind::kCorrupt, "not a manifest list");
  std::vector<ManifestFile> manifests;
  auto each = [&](BinaryReader& reader) -> Status {
    auto& manifest = manifests.emplace_back();
    for (const auto& field : record.fields) FIRN_TRY_CTX(ReadListField(reader, field, manifest), field.name);
    if (manifest.path.empty()) return Error(ErrorKind::kCorrupt, "a row without manifest_path");
    return Ok();
  };
  FIRN_TRY(container.ForEach(each));
  return manifests;
}

/// A manifest that a v1 snapshot names itself, without a list: what the list would tell is looked up.
Result<ManifestFile> LookAtManifest(store::Store& store, const std::string& path, int64_t snapshot_id) {
  FIRN_ASSIGN(auto bytes, store.ReadAll(path));
  FIRN_ASSIGN_CTX(auto container, avro::ContainerReader::Open(bytes), path);
  ManifestFile manifest;
  manifest.path = path;
  manifest.length_bytes = static_cast<int64_t>(bytes.size());
  manifest.added_snapshot_id = snapshot_id;
  auto spec_id = container.metadata().find("partition-spec-id");
  if (spec_id != container.metadata().end()) {
    char* end = nullptr;
    manifest.spec_id = static_cast<int32_t>(std::strtol(spec_id->second.c_str(), &end, 10));
    if (*end != '\0')
      return Error(ErrorKind::kCorrupt, fmt::format("{}: partition-spec-id '{}'", path, spec_id->second));
  }
  return manifest;
}

Result<std::vector<ManifestFile>> ReadInlineManifests(store::Store& store, const Snapshot& snapshot) {
  std::vector<ManifestFile> manifests;
  for (const auto& path : snapshot.manifests) {
    FIRN_ASSIGN_CTX(auto manifest, LookAtManifest(store, path, snapshot.snapshot_id), "manifest");
    manifests.push_back(std::move(manifest));
  }
  return manifests;
}

// --- writing

void WriteSummary(BinaryWriter& writer, const FieldSummary& summary) {
  writer.WriteBoolean(summary.contains_null);
  WriteOptional(writer, summary.contains_nan);
  WriteOptional(writer, summary.lower_bound);
  WriteOptional(writer, summary.upper_bound);
}

void WriteSummaries(BinaryWriter& writer, const std::optional<std::vector<FieldSummary>>& summaries) {
  WritePresence(writer, summaries.has_value());
  if (!summaries) return;
  writer.BeginItems(summaries->size());
  for (const auto& summary : *summaries) WriteSummary(writer, summary);
  writer.EndItems();
}

/// In the order of ManifestListSchemaJson. Counts that a v1 writer left out become 1 ("some"): 0 would let
/// readers skip the manifest.
void WriteRow(BinaryWriter& writer, const ManifestFile& manifest, int format_version) {
  writer.WriteBytes(manifest.path);
  writer.WriteLong(manifest.length_bytes);
  writer.WriteInt(manifest.spec_id);
  writer.WriteInt(static_cast<int32_t>(manifest.content));
  writer.WriteLong(manifest.sequence_number);
  writer.WriteLong(manifest.min_sequence_number);
  writer.WriteLong(manifest.added_snapshot_id);
  writer.WriteInt(manifest.added_files_count.value_or(1));
  writer.WriteInt(manifest.existing_files_count.value_or(1));
  writer.WriteInt(manifest.deleted_files_count.value_or(1));
  writer.WriteLong(manifest.added_rows_count.value_or(1));
  writer.WriteLong(manifest.existing_rows_count.value_or(1));
  writer.WriteLong(manifest.deleted_rows_count.value_or(1));
  WriteSummaries(writer, manifest.partitions);
  WriteOptional(writer, manifest.key_metadata);
  if (format_version >= 3) WriteOptional(writer, manifest.first_row_id);
}

std::map<std::string, std::string> KeyValues(const Snapshot& snapshot, int format_version,
                                             int64_t first_row_id) {
  std::map<std::string, std::string> values{
      {"snapshot-id", std::to_string(snapshot.snapshot_id)},
      {"parent-snapshot-id",
       snapshot.parent_snapshot_id ? std::to_string(*snapshot.parent_snapshot_id) : "null"},
      {"sequence-number", std::to_string(snapshot.sequence_number)},
      {"format-version", std::to_string(format_version)}};
  if (format_version >= 3) values["first-row-id"] = std::to_string(first_row_id);
  return values;
}

/// New manifests take the commit's sequence number; existing ones keep theirs.
Status AssignSequenceNumbers(const Snapshot& snapshot, ManifestFile& manifest) {
  if (manifest.sequence_number == kInheritedSequenceNumber) {
    if (manifest.added_snapshot_id != snapshot.snapshot_id) {
      return Error(ErrorKind::kInternal,
                   manifest.path + ": a manifest of another snapshot without a sequence number");
    }
    manifest.sequence_number = snapshot.sequence_number;
  }
  if (manifest.min_sequence_number == kInheritedSequenceNumber)
    manifest.min_sequence_number = manifest.sequence_number;
  return Ok();
}

/// Row ids for a data manifest that has none (spec, "First Row ID Assignment"). Returns how many were taken.
Result<int64_t> AssignRowIds(ManifestFile& manifest, int64_t next_row_id) {
  if (manifest.content != ManifestContent::kData || manifest.first_row_id) return 0;
  if (!manifest.existing_rows_count || !manifest.added_rows_count) {
    return Error(ErrorKind::kUnsupported,
                 manifest.path + ": row ids cannot be assigned, its row counts are not known")
        .WithRemedy("Rewrite the table's manifests with another engine first.");
  }
  manifest.first_row_id = next_row_id;
  return *manifest.existing_rows_count + *manifest.added_rows_count;
}

}  // namespace

Result<std::vector<ManifestFile>> ReadManifestList(store::Store& store, const Snapshot& snapshot) {
  if (snapshot.manifest_list.empty()) return ReadInlineManifests(store, snapshot);
  FIRN_ASSIGN_CTX(auto bytes, store.ReadAll(snapshot.manifest_list), "manifest list");
  auto manifests = ParseList(bytes);
  if (!manifests.ok())
    return std::move(manifests).error().WithContext("manifest list " + snapshot.manifest_list);
  return manifests;
}

Result<int64_t> WriteManifestList(store::Store& store, const std::string& location, const Snapshot& snapshot,
                                  int format_version, std::vector<ManifestFile>& manifests,
                                  int64_t first_row_id) {
  avro::ContainerWriter writer(ManifestListSchemaJson(format_version),
                               KeyValues(snapshot, format_version, first_row_id), {.sync_seed = location});
  int64_t assigned = 0;
  for (auto& manifest : manifests) {
    FIRN_TRY(AssignSequenceNumbers(snapshot, manifest));
    if (format_version >= 3) {
      FIRN_ASSIGN(int64_t taken, AssignRowIds(manifest, first_row_id + assigned));
      assigned += taken;
    }
    FIRN_TRY(writer.Append([&](BinaryWriter& out) { WriteRow(out, manifest, format_version); }));
  }
  FIRN_ASSIGN(auto bytes, writer.Finish());
  FIRN_TRY_CTX(store.WriteAll(location, bytes, store::IfExists::kFail), "manifest list");
  return assigned;
}

}  // namespace firn::iceberg
