#include "firn/iceberg/scan/table_scan.h"

#include <gtest/gtest.h>

#include "firn/iceberg/model/update.h"
#include "firn/iceberg/scan/parquet_fixture.h"

namespace firn::iceberg {
namespace {

using store::MemoryStore;
using testing::Field;
using testing::Longs;
using testing::Of;
using testing::PutParquet;
using testing::Rows;
using testing::SchemaOf;
using testing::Texts;
using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

constexpr char kLocation[] = "memory://wh/t";

/// A table (id long, origin string; partitioned by origin) whose snapshots are written file by file.
class ScanTest : public ::testing::Test {
 protected:
  ScanTest() : store_(std::make_shared<MemoryStore>()) {
    NewTable table;
    table.uuid = "5d2d1f5e-8f4e-4f6e-9a51-0d3a4d8d2b11";
    table.location = kLocation;
    table.schema = SchemaOf(
        {Field(1, "id", Of(TypeId::kLong)), Field(2, "origin", Of(TypeId::kString)),
         Field(3, "s", Type::Struct({Field(4, "x", Of(TypeId::kLong)), Field(5, "y", Of(TypeId::kLong))}))});
    table.spec.fields = {{2, 1000, "origin", Transform::Identity()}};
    table.keep_field_ids = true;
    table_ = NewTableMetadata(table, 1).value();
  }

  static BatchPtr MakeRows(const std::string& origin, const std::vector<int64_t>& ids) {
    const auto schema = SchemaOf(
        {Field(1, "id", Of(TypeId::kLong)), Field(2, "origin", Of(TypeId::kString)),
         Field(3, "s", Type::Struct({Field(4, "x", Of(TypeId::kLong)), Field(5, "y", Of(TypeId::kLong))}))});
    const auto type = ToArrowSchema(*schema).value()->field(2)->type();
    const auto structs = std::make_shared<arrow::StructArray>(type, static_cast<int64_t>(ids.size()),
                                                              arrow::ArrayVector{Longs(ids), Longs(ids)});
    return Rows(schema, {Longs(ids), Texts(std::vector<std::string>(ids.size(), origin)), structs});
  }

  /// A data file of one partition with bounds on `id`.
  ManifestEntry DataFileOf(const std::string& name, const std::string& origin,
                           const std::vector<int64_t>& ids) {
    ManifestEntry entry;
    entry.file.file_path = std::string(kLocation) + "/data/" + name;
    PutParquet(*store_, entry.file.file_path, MakeRows(origin, ids), {.row_group_rows = 3});
    entry.file.partition.values = {Literal(Of(TypeId::kString), origin)};
    entry.file.record_count = static_cast<int64_t>(ids.size());
    entry.file.file_size_bytes = store_->Head(entry.file.file_path).value().size_bytes;
    entry.file.value_counts[1] = entry.file.record_count;
    entry.file.null_value_counts[1] = 0;
    const auto [min, max] = std::minmax_element(ids.begin(), ids.end());
    entry.file.lower_bounds[1] = Literal(Of(TypeId::kLong), *min).ToBytes().value();
    entry.file.upper_bounds[1] = Literal(Of(TypeId::kLong), *max).ToBytes().value();
    return entry;
  }

  ManifestFile Manifest(ManifestContent content, const std::vector<ManifestEntry>& entries) {
    const std::string location =
        std::string(kLocation) + "/metadata/m" + std::to_string(++manifests_) + ".avro";
    auto manifest = WriteManifest(*store_, location, *table_.schema(), table_.spec(), content,
                                  table_.last_sequence_number + 1, entries, {});
    EXPECT_TRUE(manifest.ok()) << manifest.error().ToString();
    return *manifest;
  }

  /// A snapshot of these manifests as the head of main; its id is its sequence number.
  void Commit(std::vector<ManifestFile> manifests) {
    Snapshot snapshot;
    snapshot.snapshot_id = snapshot.sequence_number = table_.last_sequence_number + 1;
    if (table_.current_snapshot_id) snapshot.parent_snapshot_id = table_.current_snapshot_id;
    snapshot.timestamp_ms = 1000 * snapshot.snapshot_id;
    snapshot.manifest_list =
        std::string(kLocation) + "/metadata/snap-" + std::to_string(snapshot.snapshot_id) + ".avro";
    snapshot.operation = "append";
    snapshot.schema_id = table_.current_schema_id;
    ASSERT_TRUE(WriteManifestList(*store_, snapshot.manifest_list, snapshot, 2, manifests, 0).ok());
    live_ = manifests;
    SnapshotRef ref;
    ref.snapshot_id = snapshot.snapshot_id;
    auto next =
        ApplyUpdates(table_, {update::AddSnapshot{snapshot}, update::SetSnapshotRef{kMainBranch, ref}},
                     {.now_ms = snapshot.timestamp_ms, .previous_metadata = ""});
    ASSERT_TRUE(next.ok()) << next.error().ToString();
    table_ = *next;
  }

  TableScan Scan(ScanOptions options) {
    auto scan = TableScan::Make(std::make_shared<const TableMetadata>(table_), store_, std::move(options));
    EXPECT_TRUE(scan.ok()) << scan.error().ToString();
    return std::move(scan).value();
  }

  Result<BatchPtr> ReadAll(ScanOptions options) {
    FIRN_ASSIGN(const auto scan,
                TableScan::Make(std::make_shared<const TableMetadata>(table_), store_, std::move(options)));
    FIRN_ASSIGN(const auto stream, scan.Read());
    std::vector<BatchPtr> batches;
    while (true) {
      FIRN_ASSIGN(BatchPtr rows, stream->Next());
      if (rows == nullptr) return testing::Join(batches);
      EXPECT_GT(rows->num_rows(), 0);
      EXPECT_TRUE(rows->ValidateFull().ok());
      batches.push_back(std::move(rows));
    }
  }

  std::vector<int64_t> Ids(ScanOptions options) {
    options.columns = {"id"};
    const auto rows = ReadAll(std::move(options));
    EXPECT_TRUE(rows.ok()) << rows.error().ToString();
    std::vector<int64_t> ids;
    if (!rows.ok() || *rows == nullptr) return ids;
    const auto& column = static_cast<const arrow::Int64Array&>(*(*rows)->column(0));
    for (int64_t i = 0; i < column.length(); ++i) ids.push_back(column.Value(i));
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  void CommitThreeFiles() {
    Commit({Manifest(ManifestContent::kData, {DataFileOf("a.parquet", "SFO", {1, 2, 3, 4, 5})}),
            Manifest(ManifestContent::kData,
                     {DataFileOf("b.parquet", "JFK", {10, 11}), DataFileOf("c.parquet", "LAX", {20, 21})})});
  }

  std::shared_ptr<MemoryStore> store_;
  TableMetadata table_;
  std::vector<ManifestFile> live_;
  int manifests_ = 0;
};

using Longvec = std::vector<int64_t>;

TEST_F(ScanTest, EmptyTableHasNoRows) {
  EXPECT_EQ(Scan({}).snapshot(), nullptr);
  EXPECT_TRUE(Ids({}).empty());
}

TEST_F(ScanTest, ReadsEveryLiveRow) {
  CommitThreeFiles();
  EXPECT_EQ(Ids({}), (Longvec{1, 2, 3, 4, 5, 10, 11, 20, 21}));
  const auto plan = Scan({}).Plan().value();
  EXPECT_EQ(plan.tasks.size(), 3U);
  EXPECT_EQ(plan.record_count, 9);
}

TEST_F(ScanTest, PrunesManifestsAndFilesByPartition) {
  CommitThreeFiles();
  const auto plan = Scan({.where = "origin = 'JFK'"}).Plan().value();
  EXPECT_EQ(plan.tasks.size(), 1U);
  EXPECT_EQ(plan.manifests, 2);
  EXPECT_EQ(plan.manifests_skipped, 1);
  EXPECT_EQ(plan.files_skipped, 1);
  EXPECT_EQ(Ids({.where = "origin = 'JFK'"}), (Longvec{10, 11}));
}

TEST_F(ScanTest, PrunesFilesByBounds) {
  CommitThreeFiles();
  EXPECT_EQ(Scan({.where = "id > 11"}).Plan().value().tasks.size(), 1U);
  EXPECT_EQ(Ids({.where = "id > 3 AND id < 21"}), (Longvec{4, 5, 10, 11, 20}));
}

TEST_F(ScanTest, FilterColumnNeedNotBeSelected) {
  CommitThreeFiles();
  const auto rows = ReadAll({.columns = {"origin"}, .where = "s.x >= 20"});
  ASSERT_TRUE(rows.ok()) << rows.error().ToString();
  EXPECT_EQ((*rows)->schema()->field_names(), std::vector<std::string>{"origin"});
  EXPECT_TRUE((*rows)->column(0)->Equals(Texts({"LAX", "LAX"})));
}

TEST_F(ScanTest, SelectsColumnsInTheOrderGivenAndPartsOfStructs) {
  CommitThreeFiles();
  const auto rows = ReadAll({.columns = {"s.y", "id"}, .where = "id = 10"});
  ASSERT_TRUE(rows.ok()) << rows.error().ToString();
  EXPECT_EQ((*rows)->schema()->field_names(), (std::vector<std::string>{"s", "id"}));
  EXPECT_EQ((*rows)->column(0)->type()->num_fields(), 1);
  EXPECT_EQ((*rows)->column(0)->GetScalar(0).ValueOrDie()->ToString(), "{y:int64 = 10}");
}

TEST_F(ScanTest, LimitStopsEarly) {
  CommitThreeFiles();
  EXPECT_EQ(Ids({.limit = 4}).size(), 4U);
  EXPECT_TRUE(Ids({.limit = 0}).empty());
}

TEST_F(ScanTest, UnknownColumnNamesTheNearest) {
  const auto rows = ReadAll({.columns = {"orign"}});
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().kind(), ErrorKind::kNotFound);
  EXPECT_NE(rows.error().ToString().find("'origin'"), std::string::npos);
}

TEST_F(ScanTest, SnapshotsAreFoundByIdTimeAndRef) {
  CommitThreeFiles();
  auto manifests = live_;
  manifests.push_back(Manifest(ManifestContent::kData, {DataFileOf("d.parquet", "SFO", {30})}));
  Commit(manifests);
  EXPECT_EQ(Ids({}).size(), 10U);
  EXPECT_EQ(Ids({.snapshot_id = 1}).size(), 9U);
  EXPECT_EQ(Ids({.as_of_ms = 1999}).size(), 9U);
  EXPECT_EQ(Ids({.as_of_ms = 2000}).size(), 10U);
  EXPECT_EQ(Ids({.ref = "main"}).size(), 10U);
  EXPECT_EQ(ReadAll({.snapshot_id = 77}).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(ReadAll({.as_of_ms = 5}).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(ReadAll({.ref = "nope"}).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(ReadAll({.snapshot_id = 1, .ref = "main"}).error().kind(), ErrorKind::kInvalidArgument);
}

TEST_F(ScanTest, PositionDeletesTakeRowsOut) {
  CommitThreeFiles();
  const auto delete_schema = SchemaOf({Field(2147483546, "file_path", Of(TypeId::kString), true),
                                       Field(2147483545, "pos", Of(TypeId::kLong), true)});
  const std::string data_file = std::string(kLocation) + "/data/a.parquet";
  ManifestEntry entry;
  entry.file.content = FileContent::kPositionDeletes;
  entry.file.file_path = std::string(kLocation) + "/data/del.parquet";
  entry.file.partition.values = {Literal(Of(TypeId::kString), std::string("SFO"))};
  PutParquet(*store_, entry.file.file_path,
             Rows(delete_schema, {Texts({data_file, data_file, "other"}), Longs({0, 4, 1})}));
  entry.file.record_count = 3;
  entry.file.file_size_bytes = 1;
  auto manifests = live_;
  manifests.push_back(Manifest(ManifestContent::kDeletes, {entry}));
  Commit(manifests);
  EXPECT_EQ(Ids({}), (Longvec{2, 3, 4, 10, 11, 20, 21}));
  EXPECT_EQ(Ids({.where = "id >= 4"}), (Longvec{4, 10, 11, 20, 21}));
}

TEST_F(ScanTest, EqualityDeletesAreRefusedByName) {
  CommitThreeFiles();
  ManifestEntry entry;
  entry.file.content = FileContent::kEqualityDeletes;
  entry.file.file_path = std::string(kLocation) + "/data/eq.parquet";
  entry.file.partition.values = {Literal(Of(TypeId::kString), std::string("SFO"))};
  entry.file.equality_ids = {1};
  entry.file.record_count = 1;
  entry.file.file_size_bytes = 1;
  auto manifests = live_;
  manifests.push_back(Manifest(ManifestContent::kDeletes, {entry}));
  Commit(manifests);
  const auto rows = ReadAll({});
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().kind(), ErrorKind::kUnsupported);
  EXPECT_NE(rows.error().ToString().find("equality deletes"), std::string::npos);
  EXPECT_EQ(Ids({.where = "origin = 'LAX'"}), (Longvec{20, 21}));
}

TEST_F(ScanTest, GoneDataFileIsReportedWithItsPath) {
  CommitThreeFiles();
  ASSERT_TRUE(store_->Delete(std::string(kLocation) + "/data/b.parquet").ok());
  const auto rows = ReadAll({});
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().kind(), ErrorKind::kNotFound);
  EXPECT_NE(rows.error().ToString().find("b.parquet"), std::string::npos);
}

}  // namespace
}  // namespace firn::iceberg
