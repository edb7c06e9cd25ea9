#include "firn/iceberg/meta/manifest.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "firn/avro/container.h"
#include "firn/iceberg/model/update.h"
#include "firn/store/memory/memory_store.h"

namespace firn::iceberg {
namespace {

NestedField Column(int32_t id, std::string name, TypePtr type) {
  NestedField field;
  field.id = id;
  field.name = std::move(name);
  field.type = std::move(type);
  return field;
}

/// A table with one identity partition field for every type that can have one.
TableMetadata TableOfEveryType(int format_version) {
  std::vector<TypePtr> types = {Type::Primitive(TypeId::kBoolean),
                                Type::Primitive(TypeId::kInt),
                                Type::Primitive(TypeId::kLong),
                                Type::Primitive(TypeId::kFloat),
                                Type::Primitive(TypeId::kDouble),
                                Type::Decimal(9, 2),
                                Type::Decimal(38, 10),
                                Type::Primitive(TypeId::kDate),
                                Type::Primitive(TypeId::kTime),
                                Type::Primitive(TypeId::kTimestamp),
                                Type::Primitive(TypeId::kTimestampTz),
                                Type::Primitive(TypeId::kString),
                                Type::Primitive(TypeId::kUuid),
                                Type::Primitive(TypeId::kBinary)};
  if (format_version >= 3) types.push_back(Type::Primitive(TypeId::kTimestampNs));
  NewTable table;
  table.uuid = "00000000-0000-4000-8000-000000000001";
  table.location = "memory://t";
  table.format_version = format_version;
  std::vector<NestedField> columns;
  for (size_t i = 0; i < types.size(); ++i) {
    auto id = static_cast<int32_t>(i + 1);
    columns.push_back(Column(id, "c" + std::to_string(id), types[i]));
    table.spec.fields.push_back(
        {id, 1000 + static_cast<int32_t>(i), "p." + std::to_string(id), Transform::Identity()});
  }
  table.schema = std::make_shared<Schema>(0, std::move(columns));
  auto metadata = NewTableMetadata(table, 1'700'000'000'000);
  EXPECT_TRUE(metadata.ok()) << metadata.error().ToString();
  return *std::move(metadata);
}

Literal Sample(const TypePtr& type, int which) {
  switch (type->id()) {
    case TypeId::kBoolean:
      return {type, which > 0};
    case TypeId::kInt:
    case TypeId::kDate:
      return {type, int32_t{which * 70'000}};
    case TypeId::kFloat:
      return {type, static_cast<float>(which) * 1.5F};
    case TypeId::kDouble:
      return {type, which * 1.5};
    case TypeId::kDecimal:
      return {type, Int128{which} * 314};
    case TypeId::kString:
      return {type, std::string("gr\xc3\xbc\xc3\x9f") + std::to_string(which)};
    case TypeId::kUuid:
      return {type, std::string(16, static_cast<char>(which + 100))};
    case TypeId::kBinary:
      return {type, std::string("\x00\xff", 2) + std::to_string(which)};
    default:
      return {type, int64_t{which} * 1'000'000'007};
  }
}

DataFile FullFile(const TableMetadata& metadata, int which) {
  DataFile file;
  file.file_path = "memory://t/data/" + std::to_string(which) + ".parquet";
  for (const auto& field : metadata.spec().fields) {
    const auto& type = metadata.schema()->FindById(field.source_id)->type;
    file.partition.values.push_back(which == 0 ? Literal::Null(type) : Sample(type, which));
  }
  file.record_count = 100 + which;
  file.file_size_bytes = 5000 + which;
  file.column_sizes = {{1, 10}, {2, 20}};
  file.value_counts = {{1, 100}, {2, 100}};
  file.null_value_counts = {{1, 0}, {2, 5}};
  file.nan_value_counts = {{4, 1}};
  file.lower_bounds = {{1, std::string("\0", 1)}, {2, std::string("\x01\0\0\0", 4)}};
  file.upper_bounds = {{1, std::string("\1", 1)}, {2, std::string("\x09\0\0\0", 4)}};
  file.split_offsets = {4, 4000};
  file.sort_order_id = 0;
  return file;
}

void ExpectSameFile(const DataFile& a, const DataFile& b) {
  EXPECT_EQ(a.content, b.content);
  EXPECT_EQ(a.file_path, b.file_path);
  EXPECT_EQ(a.file_format, b.file_format);
  EXPECT_EQ(a.spec_id, b.spec_id);
  EXPECT_EQ(a.partition, b.partition);
  EXPECT_EQ(a.record_count, b.record_count);
  EXPECT_EQ(a.file_size_bytes, b.file_size_bytes);
  EXPECT_EQ(a.column_sizes, b.column_sizes);
  EXPECT_EQ(a.value_counts, b.value_counts);
  EXPECT_EQ(a.null_value_counts, b.null_value_counts);
  EXPECT_EQ(a.nan_value_counts, b.nan_value_counts);
  EXPECT_EQ(a.lower_bounds, b.lower_bounds);
  EXPECT_EQ(a.upper_bounds, b.upper_bounds);
  EXPECT_EQ(a.key_metadata, b.key_metadata);
  EXPECT_EQ(a.split_offsets, b.split_offsets);
  EXPECT_EQ(a.equality_ids, b.equality_ids);
  EXPECT_EQ(a.sort_order_id, b.sort_order_id);
  EXPECT_EQ(a.referenced_data_file, b.referenced_data_file);
  EXPECT_EQ(a.content_offset, b.content_offset);
  EXPECT_EQ(a.content_size_bytes, b.content_size_bytes);
}

class ManifestVersions : public ::testing::TestWithParam<std::tuple<int, const char*>> {
 protected:
  store::MemoryStore store_;
};

TEST_P(ManifestVersions, EveryTypeAndFieldRoundTrips) {
  auto [version, codec] = GetParam();
  auto metadata = TableOfEveryType(version);
  std::vector<ManifestEntry> entries;
  for (int which : {0, 1, -1, 5}) {
    entries.emplace_back().file = FullFile(metadata, which);
  }
  entries[1].file.key_metadata = "key";
  auto manifest =
      WriteManifest(store_, "memory://t/m.avro", *metadata.schema(), metadata.spec(), ManifestContent::kData,
                    77, entries, {.format_version = version, .compression = codec, .compression_level = {}});
  ASSERT_TRUE(manifest.ok()) << manifest.error().ToString();
  EXPECT_EQ(manifest->added_files_count, 4);
  EXPECT_EQ(manifest->added_rows_count, 405);
  EXPECT_EQ(manifest->existing_files_count, 0);
  EXPECT_EQ(manifest->length_bytes, store_.Head("memory://t/m.avro")->size_bytes);
  manifest->sequence_number = 9;
  auto read = ReadManifest(store_, *manifest, metadata);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  ASSERT_EQ(read->size(), entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    ExpectSameFile((*read)[i].file, entries[i].file);
    EXPECT_EQ((*read)[i].status, EntryStatus::kAdded);
    EXPECT_EQ((*read)[i].snapshot_id, 77);
    EXPECT_EQ((*read)[i].sequence_number, 9);
    EXPECT_EQ((*read)[i].file_sequence_number, 9);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ManifestVersions,
                         ::testing::Combine(::testing::Values(2, 3),
                                            ::testing::Values("gzip", "zstd", "snappy", "uncompressed")));

class ManifestTest : public ::testing::Test {
 protected:
  Result<ManifestFile> Write(const TableMetadata& metadata, const std::vector<ManifestEntry>& entries,
                             ManifestContent content = ManifestContent::kData) {
    ManifestWriteOptions options;
    options.format_version = metadata.format_version;
    return WriteManifest(store_, kPath, *metadata.schema(), metadata.spec(), content, 77, entries, options);
  }

  static constexpr char kPath[] = "memory://t/m.avro";
  store::MemoryStore store_;
};

TEST_F(ManifestTest, SummariesBoundThePartitions) {
  auto metadata = TableOfEveryType(2);
  std::vector<ManifestEntry> entries;
  for (int which : {0, 1, -1}) entries.emplace_back().file = FullFile(metadata, which);
  auto manifest = Write(metadata, entries).value();
  ASSERT_EQ(manifest.partitions->size(), metadata.spec().fields.size());
  const auto& ints = manifest.partitions->at(1);
  EXPECT_TRUE(ints.contains_null);
  EXPECT_EQ(ints.contains_nan, false);
  EXPECT_EQ(ints.lower_bound, Literal(Type::Primitive(TypeId::kInt), int32_t{-70'000}).ToBytes().value());
  EXPECT_EQ(ints.upper_bound, Literal(Type::Primitive(TypeId::kInt), int32_t{70'000}).ToBytes().value());
  for (size_t i = 0; i < manifest.partitions->size(); ++i) {
    const bool is_uuid =
        metadata.schema()->FindById(metadata.spec().fields[i].source_id)->type->id() == TypeId::kUuid;
    EXPECT_EQ(manifest.partitions->at(i).lower_bound.has_value(), !is_uuid) << i;
  }
}

TEST_F(ManifestTest, NanStaysOutOfSummaryBoundsAndZeroCoversBothSigns) {
  auto metadata = TableOfEveryType(2);
  auto doubles = Type::Primitive(TypeId::kDouble);
  std::vector<ManifestEntry> entries;
  for (double value : {0.0, std::numeric_limits<double>::quiet_NaN(), -0.0}) {
    auto& file = entries.emplace_back().file;
    file = FullFile(metadata, 1);
    file.partition.values[4] = Literal(doubles, value);
  }
  auto manifest = Write(metadata, entries).value();
  const auto& summary = manifest.partitions->at(4);
  EXPECT_EQ(summary.contains_nan, true);
  EXPECT_EQ(summary.lower_bound, Literal(doubles, -0.0).ToBytes().value());
  EXPECT_EQ(summary.upper_bound, Literal(doubles, 0.0).ToBytes().value());
  entries.erase(entries.begin(), entries.begin() + 1);
  entries.pop_back();
  ASSERT_TRUE(store_.Delete(kPath).ok());
  auto only_nan = Write(metadata, entries).value();
  EXPECT_EQ(only_nan.partitions->at(4).lower_bound, std::nullopt);
  EXPECT_FALSE(only_nan.partitions->at(4).contains_null);
}

TEST_F(ManifestTest, ExistingEntriesKeepTheirNumbersAndGiveTheMinimum) {
  auto metadata = TableOfEveryType(3);
  std::vector<ManifestEntry> entries(2);
  entries[0].file = FullFile(metadata, 1);
  entries[1].file = FullFile(metadata, 2);
  entries[1].status = EntryStatus::kExisting;
  entries[1].snapshot_id = 5;
  entries[1].sequence_number = 3;
  entries[1].file_sequence_number = 4;
  entries[1].file.first_row_id = 1000;
  auto manifest = Write(metadata, entries).value();
  EXPECT_EQ(manifest.min_sequence_number, 3);
  EXPECT_EQ(manifest.existing_rows_count, 102);
  manifest.sequence_number = 12;
  manifest.first_row_id = 500;
  auto read = ReadManifest(store_, manifest, metadata).value();
  EXPECT_EQ(read[0].sequence_number, 12);
  EXPECT_EQ(read[0].file.first_row_id, 500);
  EXPECT_EQ(read[1].snapshot_id, 5);
  EXPECT_EQ(read[1].sequence_number, 3);
  EXPECT_EQ(read[1].file_sequence_number, 4);
  EXPECT_EQ(read[1].file.first_row_id, 1000);
}

TEST_F(ManifestTest, ExistingEntryWithoutNumbersIsRefused) {
  auto metadata = TableOfEveryType(2);
  std::vector<ManifestEntry> entries(1);
  entries[0].file = FullFile(metadata, 1);
  entries[0].status = EntryStatus::kExisting;
  EXPECT_EQ(Write(metadata, entries).error().kind(), ErrorKind::kInternal);
}

TEST_F(ManifestTest, FixedPartitionValuesAreRefusedNullIsNot) {
  NewTable table;
  table.uuid = "00000000-0000-4000-8000-000000000001";
  table.location = "memory://t";
  table.schema = std::make_shared<Schema>(0, std::vector<NestedField>{Column(1, "f", Type::Fixed(3))});
  table.spec.fields = {{1, 1000, "f", Transform::Identity()}};
  auto metadata = NewTableMetadata(table, 1).value();
  std::vector<ManifestEntry> entries(1);
  entries[0].file.file_path = "memory://t/data/f";
  entries[0].file.partition.values = {Literal(Type::Fixed(3), std::string("abc"))};
  auto refused = Write(metadata, entries);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kUnsupported);
  EXPECT_NE(refused.error().remedy().find("bucket"), std::string::npos);
  entries[0].file.partition.values = {Literal::Null(Type::Fixed(3))};
  EXPECT_TRUE(Write(metadata, entries).ok());
}

TEST_F(ManifestTest, DeletionVectorFieldsRoundTripInV3) {
  auto metadata = TableOfEveryType(3);
  std::vector<ManifestEntry> entries(1);
  auto& file = entries[0].file;
  file = FullFile(metadata, 1);
  file.content = FileContent::kPositionDeletes;
  file.file_format = "PUFFIN";
  file.referenced_data_file = "memory://t/data/9.parquet";
  file.content_offset = 4;
  file.content_size_bytes = 44;
  auto manifest = Write(metadata, entries, ManifestContent::kDeletes).value();
  auto read = ReadManifest(store_, manifest, metadata).value();
  ExpectSameFile(read[0].file, file);
  EXPECT_EQ(read[0].file.first_row_id, std::nullopt);
}

TEST_F(ManifestTest, RowIdsRunOnOverNewFilesAndSkipDeletedOnes) {
  auto metadata = TableOfEveryType(3);
  std::vector<ManifestEntry> entries(3);
  for (size_t i = 0; i < 3; ++i) entries[i].file = FullFile(metadata, static_cast<int>(i));
  entries[1].status = EntryStatus::kDeleted;
  entries[1].sequence_number = entries[1].file_sequence_number = 1;
  auto manifest = Write(metadata, entries).value();
  manifest.first_row_id = 1'000;
  auto read = ReadManifest(store_, manifest, metadata).value();
  EXPECT_EQ(read[0].file.first_row_id, 1'000);
  EXPECT_EQ(read[1].file.first_row_id, std::nullopt);
  EXPECT_EQ(read[2].file.first_row_id, 1'100);
}

TEST_F(ManifestTest, PromotedAndDroppedSourceColumnsAreStillRead) {
  auto metadata = TableOfEveryType(2);
  std::vector<ManifestEntry> entries(1);
  entries[0].file = FullFile(metadata, 1);
  auto manifest = Write(metadata, entries).value();
  // Column 2 becomes long, column 3 is dropped.
  std::vector<NestedField> columns;
  for (auto column : metadata.schema()->fields()) {
    if (column.id == 2) column.type = Type::Primitive(TypeId::kLong);
    if (column.id != 3) columns.push_back(column);
  }
  metadata.schemas.push_back(std::make_shared<Schema>(1, columns));
  metadata.current_schema_id = 1;
  auto read = ReadManifest(store_, manifest, metadata);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(read->at(0).file.partition.values[1], Literal(Type::Primitive(TypeId::kLong), int64_t{70'000}));
  EXPECT_EQ(read->at(0).file.partition.values[2],
            Literal(Type::Primitive(TypeId::kLong), int64_t{1'000'000'007}));
}

TEST_F(ManifestTest, DamageIsAnErrorThatNamesTheFile) {
  auto metadata = TableOfEveryType(3);
  std::vector<ManifestEntry> entries(2);
  entries[0].file = FullFile(metadata, 1);
  entries[1].file = FullFile(metadata, 2);
  auto manifest = Write(metadata, entries).value();
  auto bytes = store_.ReadAll(kPath).value();
  for (size_t cut = 0; cut < bytes.size(); cut += 7) {
    ASSERT_TRUE(store_.WriteAll(kPath, bytes.substr(0, cut), store::IfExists::kReplace).ok());
    auto read = ReadManifest(store_, manifest, metadata);
    if (read.ok()) {
      EXPECT_TRUE(read->empty());
    } else {
      EXPECT_EQ(read.error().kind(), ErrorKind::kCorrupt) << cut;
      EXPECT_NE(read.error().ToString().find(kPath), std::string::npos);
    }
  }
}

TEST_F(ManifestTest, UnknownSpecAndMissingFileAreErrors) {
  auto metadata = TableOfEveryType(2);
  ManifestFile manifest;
  manifest.path = "memory://t/none.avro";
  EXPECT_EQ(ReadManifest(store_, manifest, metadata).error().kind(), ErrorKind::kNotFound);
  manifest.spec_id = 44;
  EXPECT_EQ(ReadManifest(store_, manifest, metadata).error().kind(), ErrorKind::kCorrupt);
}

class ManifestListTest : public ::testing::Test {
 protected:
  static ManifestFile Row(const std::string& path) {
    ManifestFile manifest;
    manifest.path = path;
    manifest.length_bytes = 1234;
    manifest.added_snapshot_id = 77;
    manifest.sequence_number = manifest.min_sequence_number = kInheritedSequenceNumber;
    manifest.added_files_count = 3;
    manifest.existing_files_count = 2;
    manifest.deleted_files_count = 1;
    manifest.added_rows_count = 30;
    manifest.existing_rows_count = 20;
    manifest.deleted_rows_count = 10;
    return manifest;
  }

  Snapshot snapshot_ = [] {
    Snapshot snapshot;
    snapshot.snapshot_id = 77;
    snapshot.sequence_number = 6;
    snapshot.manifest_list = "memory://t/snap.avro";
    return snapshot;
  }();
  store::MemoryStore store_;
};

TEST_F(ManifestListTest, NewManifestsTakeTheCommitsNumbersOldOnesKeepTheirs) {
  std::vector<ManifestFile> manifests = {Row("memory://t/new"), Row("memory://t/old"),
                                         Row("memory://t/deletes")};
  manifests[0].partitions =
      std::vector<FieldSummary>{{true, false, "a", "b"}, {false, std::nullopt, std::nullopt, std::nullopt}};
  manifests[1].sequence_number = 4;
  manifests[1].min_sequence_number = 2;
  manifests[1].added_snapshot_id = 5;
  manifests[1].first_row_id = 11;
  manifests[2].content = ManifestContent::kDeletes;
  manifests[2].key_metadata = "k";
  auto assigned = WriteManifestList(store_, snapshot_.manifest_list, snapshot_, 3, manifests, 100);
  EXPECT_EQ(assigned.value(), 50);
  auto read = ReadManifestList(store_, snapshot_).value();
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].sequence_number, 6);
  EXPECT_EQ(read[0].min_sequence_number, 6);
  EXPECT_EQ(read[0].first_row_id, 100);
  EXPECT_EQ(read[0].partitions->at(0).lower_bound, "a");
  EXPECT_EQ(read[0].partitions->at(1).contains_nan, std::nullopt);
  EXPECT_EQ(read[1].sequence_number, 4);
  EXPECT_EQ(read[1].min_sequence_number, 2);
  EXPECT_EQ(read[1].first_row_id, 11);
  EXPECT_EQ(read[1].deleted_rows_count, 10);
  EXPECT_EQ(read[2].content, ManifestContent::kDeletes);
  EXPECT_EQ(read[2].first_row_id, std::nullopt);
  EXPECT_EQ(read[2].key_metadata, "k");
}

TEST_F(ManifestListTest, ForeignManifestWithoutNumbersIsRefused) {
  std::vector<ManifestFile> manifests = {Row("memory://t/x")};
  manifests[0].added_snapshot_id = 1;
  EXPECT_FALSE(WriteManifestList(store_, snapshot_.manifest_list, snapshot_, 2, manifests, 0).ok());
}

TEST_F(ManifestListTest, OldNamesWithoutIdsAreUnderstood) {
  avro::ContainerWriter writer(R"({"type":"record","name":"manifest_file","fields":[
      {"name":"manifest_path","type":"string"},{"name":"manifest_length","type":"long"},{"name":"partition_spec_id","type":"int"},
      {"name":"added_snapshot_id","type":["null","long"]},{"name":"added_data_files_count","type":["null","int"]},
      {"name":"something_new","type":{"type":"map","values":"double"}}]})",
                               {}, {});
  ASSERT_TRUE(writer
                  .Append([](avro::BinaryWriter& out) {
                    out.WriteBytes("memory://t/old-m0.avro");
                    out.WriteLong(99);
                    out.WriteInt(0);
                    out.WriteInt(1);
                    out.WriteLong(12);
                    out.WriteInt(1);
                    out.WriteInt(7);
                    out.BeginItems(1);
                    out.WriteBytes("k");
                    out.WriteDouble(1);
                    out.EndItems();
                  })
                  .ok());
  ASSERT_TRUE(store_.WriteAll(snapshot_.manifest_list, writer.Finish().value(), store::IfExists::kFail).ok());
  auto read = ReadManifestList(store_, snapshot_);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(read->at(0).path, "memory://t/old-m0.avro");
  EXPECT_EQ(read->at(0).added_snapshot_id, 12);
  EXPECT_EQ(read->at(0).added_files_count, 7);
  EXPECT_EQ(read->at(0).existing_files_count, std::nullopt);
  EXPECT_EQ(read->at(0).sequence_number, 0);
}

TEST_F(ManifestListTest, InlineManifestsOfV1SnapshotsAreLookedUp) {
  avro::ContainerWriter writer(
      R"({"type":"record","name":"manifest_entry","fields":[{"name":"status","type":"int"}]})",
      {{"partition-spec-id", "3"}}, {});
  ASSERT_TRUE(store_.WriteAll("memory://t/m1", writer.Finish().value(), store::IfExists::kFail).ok());
  Snapshot snapshot;
  snapshot.snapshot_id = 5;
  snapshot.manifests = {"memory://t/m1"};
  auto read = ReadManifestList(store_, snapshot).value();
  EXPECT_EQ(read.at(0).spec_id, 3);
  EXPECT_EQ(read.at(0).added_snapshot_id, 5);
  EXPECT_EQ(read.at(0).length_bytes, store_.Head("memory://t/m1")->size_bytes);
}

}  // namespace
}  // namespace firn::iceberg
