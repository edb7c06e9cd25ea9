#include "firn/iceberg/meta/append.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "firn/store/memory/memory_store.h"

namespace firn::iceberg {
namespace {

class AppendTest : public ::testing::Test {
 protected:
  void MakeTable(int format_version, Properties properties = {}) {
    NewTable table;
    table.uuid = "00000000-0000-4000-8000-000000000001";
    table.location = "memory://t";
    table.format_version = format_version;
    table.properties = std::move(properties);
    NestedField column;
    column.id = 1;
    column.name = "day";
    column.type = Type::Primitive(TypeId::kInt);
    table.schema = std::make_shared<Schema>(0, std::vector<NestedField>{column});
    table.spec.fields = {{1, 1000, "day", Transform::Identity()}};
    auto made = NewTableMetadata(table, now_ms_);
    ASSERT_TRUE(made.ok()) << made.error().ToString();
    table_ = *std::move(made);
  }

  DataFile File(const std::string& name, int32_t day, int64_t rows = 10) {
    DataFile file;
    file.file_path = "memory://t/data/" + name;
    file.spec_id = table_.default_spec_id;
    file.partition.values = {Literal(Type::Primitive(TypeId::kInt), day)};
    file.record_count = rows;
    file.file_size_bytes = 100 * rows;
    return file;
  }

  AppendContent Content(std::vector<DataFile> files) {
    AppendContent content;
    content.files = std::move(files);
    content.snapshot_id = ++last_snapshot_id_;
    content.commit_uuid = "commit-" + std::to_string(last_snapshot_id_);
    return content;
  }

  TableMetadata Applied(const TableMetadata& base, const BuiltAppend& built) {
    ApplyContext context;
    context.now_ms = now_ms_;
    context.previous_metadata = "memory://t/metadata/previous.json";
    auto applied = ApplyUpdates(base, built.updates, context);
    EXPECT_TRUE(applied.ok()) << applied.error().ToString();
    return *std::move(applied);
  }

  void Append(std::vector<DataFile> files) {
    now_ms_ += 1000;
    AppendBuilder builder(store_, Content(std::move(files)));
    auto built = builder.Build(table_, 1, now_ms_);
    ASSERT_TRUE(built.ok()) << built.error().ToString();
    table_ = Applied(table_, *built);
  }

  std::vector<ManifestFile> Manifests(const TableMetadata& table) {
    return ReadManifestList(*store_, *table.current_snapshot()).value();
  }

  std::vector<ManifestEntry> LiveEntries(const TableMetadata& table) {
    std::vector<ManifestEntry> live;
    for (const auto& manifest : Manifests(table)) {
      auto entries = ReadManifest(*store_, manifest, table);
      EXPECT_TRUE(entries.ok()) << entries.error().ToString();
      for (auto& entry : *entries) {
        if (entry.live()) live.push_back(std::move(entry));
      }
    }
    return live;
  }

  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
  TableMetadata table_;
  int64_t now_ms_ = 1'700'000'000'000;
  int64_t last_snapshot_id_ = 100;
};

TEST_F(AppendTest, FirstAppendMakesOneManifestAndCountsEverything) {
  MakeTable(2);
  Append({File("a", 1, 10), File("b", 2, 20), File("c", 2, 30)});
  const Snapshot& snapshot = *table_.current_snapshot();
  EXPECT_EQ(snapshot.operation, "append");
  EXPECT_EQ(snapshot.sequence_number, 1);
  EXPECT_EQ(snapshot.parent_snapshot_id, std::nullopt);
  EXPECT_EQ(snapshot.timestamp_ms, now_ms_);
  EXPECT_EQ(snapshot.manifest_list, "memory://t/metadata/snap-101-1-commit-101.avro");
  std::map<std::string, std::string> expected = {
      {"added-data-files", "3"},        {"added-records", "60"},     {"added-files-size", "6000"},
      {"changed-partition-count", "2"}, {"total-data-files", "3"},   {"total-records", "60"},
      {"total-files-size", "6000"},     {"total-delete-files", "0"}, {"total-position-deletes", "0"},
      {"total-equality-deletes", "0"},  {"manifests-created", "1"},  {"manifests-kept", "0"},
      {"manifests-replaced", "0"}};
  EXPECT_EQ(snapshot.summary, expected);
  auto manifests = Manifests(table_);
  ASSERT_EQ(manifests.size(), 1U);
  EXPECT_EQ(manifests[0].path, "memory://t/metadata/commit-101-m0.avro");
  EXPECT_EQ(manifests[0].sequence_number, 1);
  EXPECT_EQ(LiveEntries(table_).size(), 3U);
}

TEST_F(AppendTest, TotalsGoOnFromTheParentNewestManifestFirst) {
  MakeTable(2);
  Append({File("a", 1, 10)});
  Append({File("b", 1, 5)});
  EXPECT_EQ(table_.current_snapshot()->summary.at("total-records"), "15");
  EXPECT_EQ(table_.current_snapshot()->parent_snapshot_id, 101);
  auto manifests = Manifests(table_);
  ASSERT_EQ(manifests.size(), 2U);
  EXPECT_EQ(manifests[0].sequence_number, 2);
  EXPECT_EQ(manifests[1].sequence_number, 1);
}

TEST_F(AppendTest, UnknownParentTotalStaysUnknown) {
  MakeTable(2);
  Append({File("a", 1)});
  for (auto& snapshot : table_.snapshots) {
    snapshot.summary.erase("total-records");
    snapshot.summary["total-data-files"] = "many";
  }
  Append({File("b", 1)});
  EXPECT_FALSE(table_.current_snapshot()->summary.contains("total-records"));
  EXPECT_FALSE(table_.current_snapshot()->summary.contains("total-data-files"));
  EXPECT_TRUE(table_.current_snapshot()->summary.contains("total-files-size"));
}

TEST_F(AppendTest, EmptyAppendIsAMarkerSnapshotThatKeepsTheManifests) {
  MakeTable(2, {{"commit.manifest.min-count-to-merge", "1"}});
  Append({File("a", 1)});
  auto before = Manifests(table_);
  auto content = Content({});
  content.summary = {{"firn.epoch", "0"}, {"total-records", "999"}};
  AppendBuilder builder(store_, content);
  auto built = builder.Build(table_, 1, now_ms_).value();
  table_ = Applied(table_, built);
  EXPECT_EQ(table_.current_snapshot()->summary.at("firn.epoch"), "0");
  EXPECT_EQ(table_.current_snapshot()->summary.at("total-records"), "10");
  auto after = Manifests(table_);
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(after[0].path, before[0].path);
  EXPECT_EQ(builder.written().size(), 1U);
}

TEST_F(AppendTest, RetryReusesManifestsAndRebuildsTheRest) {
  MakeTable(3);
  Append({File("a", 1, 10)});
  AppendBuilder builder(store_, Content({File("mine", 1, 7)}));
  auto lost = builder.Build(table_, 1, now_ms_).value();
  EXPECT_EQ(lost.snapshot.first_row_id, 10);
  // Another writer gets in between.
  Append({File("theirs", 1, 100)});
  auto built = builder.Build(table_, 2, now_ms_).value();
  EXPECT_EQ(built.snapshot.sequence_number, lost.snapshot.sequence_number + 1);
  EXPECT_EQ(built.snapshot.first_row_id, 110);
  EXPECT_EQ(built.snapshot.added_rows, 7);
  EXPECT_EQ(built.snapshot.summary.at("total-records"), "117");
  EXPECT_NE(built.snapshot.manifest_list, lost.snapshot.manifest_list);
  table_ = Applied(table_, built);
  EXPECT_EQ(table_.next_row_id, 117);
  auto manifests = Manifests(table_);
  ASSERT_EQ(manifests.size(), 3U);
  EXPECT_EQ(manifests[0].first_row_id, 110);
  EXPECT_EQ(builder.written().size(), 3U);  // one manifest, two lists
  EXPECT_EQ(builder.UnusedAfterCommit(built.snapshot), std::vector<std::string>{lost.snapshot.manifest_list});
  EXPECT_TRUE(builder.UnusedAfterCommit(*table_.FindSnapshot(101)).empty());
}

TEST_F(AppendTest, MergesWhenEnoughManifestsAndKeepsNumbersAndRowIds) {
  MakeTable(3, {{"commit.manifest.min-count-to-merge", "3"}});
  Append({File("a", 1, 10)});
  Append({File("b", 2, 20)});
  EXPECT_EQ(Manifests(table_).size(), 2U);
  Append({File("c", 3, 30)});
  auto manifests = Manifests(table_);
  ASSERT_EQ(manifests.size(), 1U);
  EXPECT_EQ(manifests[0].added_files_count, 1);
  EXPECT_EQ(manifests[0].existing_files_count, 2);
  EXPECT_EQ(manifests[0].min_sequence_number, 1);
  EXPECT_EQ(manifests[0].sequence_number, 3);
  EXPECT_EQ(table_.current_snapshot()->summary.at("manifests-replaced"), "2");
  std::map<std::string, std::pair<int64_t, int64_t>> seen;  // sequence number, first row id
  for (const auto& entry : LiveEntries(table_)) {
    seen[entry.file.file_path] = {*entry.sequence_number, *entry.file.first_row_id};
    if (entry.file.file_path.ends_with("c")) {
      EXPECT_EQ(entry.status, EntryStatus::kAdded);
      EXPECT_EQ(entry.snapshot_id, 103);
    } else {
      EXPECT_EQ(entry.status, EntryStatus::kExisting);
    }
  }
  EXPECT_EQ(seen["memory://t/data/a"], std::make_pair(int64_t{1}, int64_t{0}));
  EXPECT_EQ(seen["memory://t/data/b"], std::make_pair(int64_t{2}, int64_t{10}));
  EXPECT_EQ(seen["memory://t/data/c"], std::make_pair(int64_t{3}, int64_t{30}));
  // Row ids may be left unused, never used twice.
  EXPECT_EQ(table_.next_row_id, 30 + *table_.current_snapshot()->added_rows);
  EXPECT_GE(table_.next_row_id, 60);
}

TEST_F(AppendTest, RetryOfAMergeWritesItAgainOnlyWhenItsInputsChanged) {
  MakeTable(2, {{"commit.manifest.min-count-to-merge", "2"}});
  Append({File("a", 1)});
  AppendBuilder builder(store_, Content({File("mine", 1)}));
  ASSERT_TRUE(builder.Build(table_, 1, now_ms_).ok());
  ASSERT_TRUE(builder.Build(table_, 2, now_ms_).ok());
  EXPECT_EQ(builder.written().size(), 4U);  // own manifest, merged one, two lists
  Append({File("theirs", 1)});
  auto built = builder.Build(table_, 3, now_ms_).value();
  EXPECT_EQ(builder.written().size(), 6U);
  table_ = Applied(table_, built);
  EXPECT_EQ(LiveEntries(table_).size(), 3U);
  auto unused = builder.UnusedAfterCommit(built.snapshot);
  EXPECT_EQ(unused.size(), 4U);  // own manifest and first merge, two lists
  for (const auto& location : unused) ASSERT_TRUE(store_->Delete(location).ok());
  EXPECT_EQ(LiveEntries(table_).size(), 3U);
}

TEST_F(AppendTest, FullManifestsAreLeftAlone) {
  MakeTable(2, {{"commit.manifest.min-count-to-merge", "2"}, {"commit.manifest.target-size-bytes", "1"}});
  for (int i = 0; i < 4; ++i) Append({File("f" + std::to_string(i), i)});
  EXPECT_EQ(Manifests(table_).size(), 4U);
}

TEST_F(AppendTest, MergingCanBeSwitchedOff) {
  MakeTable(2, {{"commit.manifest.min-count-to-merge", "2"}, {"commit.manifest-merge.enabled", "false"}});
  for (int i = 0; i < 4; ++i) Append({File("f" + std::to_string(i), i)});
  EXPECT_EQ(Manifests(table_).size(), 4U);
}

TEST_F(AppendTest, DeleteManifestsAreCarriedAndNeverMergedWithData) {
  MakeTable(2, {{"commit.manifest.min-count-to-merge", "2"}});
  Append({File("a", 1)});
  // Another engine adds a delete manifest.
  ManifestEntry entry;
  entry.file = File("a-deletes", 1);
  entry.file.content = FileContent::kPositionDeletes;
  auto deletes = WriteManifest(*store_, "memory://t/metadata/d.avro", *table_.schema(), table_.spec(),
                               ManifestContent::kDeletes, 900, {entry}, {})
                     .value();
  auto manifests = Manifests(table_);
  manifests.push_back(deletes);
  BuiltAppend built;
  built.snapshot = *table_.current_snapshot();
  built.snapshot.snapshot_id = 900;
  built.snapshot.parent_snapshot_id = table_.current_snapshot_id;
  built.snapshot.sequence_number = 2;
  built.snapshot.manifest_list = "memory://t/metadata/snap-900.avro";
  ASSERT_TRUE(WriteManifestList(*store_, built.snapshot.manifest_list, built.snapshot, 2, manifests, 0).ok());
  SnapshotRef ref;
  ref.snapshot_id = 900;
  built.updates = {update::AddSnapshot{built.snapshot}, update::SetSnapshotRef{kMainBranch, ref}};
  table_ = Applied(table_, built);
  for (int i = 0; i < 3; ++i) Append({File("more" + std::to_string(i), 1)});
  auto after = Manifests(table_);
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(after[1].content, ManifestContent::kDeletes);
  EXPECT_EQ(after[1].path, "memory://t/metadata/d.avro");
  EXPECT_EQ(after[1].sequence_number, 2);
}

TEST_F(AppendTest, SnapshotTimeNeverRunsBackwards) {
  MakeTable(2);
  Append({File("a", 1)});
  AppendBuilder builder(store_, Content({File("b", 1)}));
  auto built = builder.Build(table_, 1, 5).value();
  EXPECT_EQ(built.snapshot.timestamp_ms, table_.last_updated_ms);
}

TEST_F(AppendTest, BranchIsCreatedAtMainAndTagsAreRefused) {
  MakeTable(2);
  Append({File("a", 1)});
  auto content = Content({File("b", 1)});
  content.branch = "audit";
  auto built = AppendBuilder(store_, content).Build(table_, 1, now_ms_).value();
  EXPECT_EQ(built.snapshot.parent_snapshot_id, table_.current_snapshot_id);
  table_ = Applied(table_, built);
  EXPECT_EQ(table_.Head("audit")->snapshot_id, built.snapshot.snapshot_id);
  EXPECT_NE(table_.current_snapshot_id, built.snapshot.snapshot_id);
  table_.refs["v1"] = {101, RefType::kTag, {}, {}, {}};
  content = Content({});
  content.branch = "v1";
  EXPECT_EQ(AppendBuilder(store_, content).Build(table_, 1, now_ms_).error().kind(),
            ErrorKind::kInvalidArgument);
}

TEST_F(AppendTest, MetadataPathAndPartitionSummariesFollowTheProperties) {
  MakeTable(2, {{"write.metadata.path", "memory://elsewhere/m/"}, {"write.summary.partition-limit", "5"}});
  Append({File("a", 1, 10), File("b", 2, 20)});
  EXPECT_TRUE(table_.current_snapshot()->manifest_list.starts_with("memory://elsewhere/m/snap-"));
  EXPECT_EQ(table_.current_snapshot()->summary.at("partition-summaries-included"), "true");
  EXPECT_EQ(table_.current_snapshot()->summary.at("partitions.day=2"),
            "added-data-files=1,added-records=20,added-files-size=2000");
}

TEST_F(AppendTest, VersionOneAndBadPropertiesAreRefusedWithWords) {
  MakeTable(2, {{"commit.manifest.min-count-to-merge", "soon"}});
  auto bad = AppendBuilder(store_, Content({File("a", 1)})).Build(table_, 1, now_ms_);
  EXPECT_EQ(bad.error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_NE(bad.error().ToString().find("commit.manifest.min-count-to-merge"), std::string::npos);
  MakeTable(2);
  table_.format_version = 1;
  EXPECT_EQ(AppendBuilder(store_, Content({})).Build(table_, 1, now_ms_).error().kind(),
            ErrorKind::kUnsupported);
}

TEST_F(AppendTest, FailedWriteOfAManifestCanBeTriedAgain) {
  MakeTable(2);
  AppendBuilder builder(store_, Content({File("a", 1)}));
  store_->FailNext(store::StoreOp::kFinish, "-m0.avro", Error(ErrorKind::kUnavailable, "away"));
  EXPECT_EQ(builder.Build(table_, 1, now_ms_).error().kind(), ErrorKind::kUnavailable);
  auto built = builder.Build(table_, 2, now_ms_);
  ASSERT_TRUE(built.ok()) << built.error().ToString();
  EXPECT_EQ(builder.written().size(), 3U);
  table_ = Applied(table_, *built);
  EXPECT_EQ(LiveEntries(table_).size(), 1U);
}

TEST_F(AppendTest, UpgradedTableGetsRowIdsForItsOldManifests) {
  MakeTable(2);
  Append({File("old", 1, 10)});
  table_.format_version = 3;
  Append({File("new", 1, 5)});
  EXPECT_EQ(table_.current_snapshot()->first_row_id, 0);
  EXPECT_EQ(table_.current_snapshot()->added_rows, 15);
  EXPECT_EQ(table_.next_row_id, 15);
  std::set<int64_t> first_ids;
  for (const auto& entry : LiveEntries(table_)) first_ids.insert(*entry.file.first_row_id);
  EXPECT_EQ(first_ids, (std::set<int64_t>{0, 5}));
}

}  // namespace
}  // namespace firn::iceberg
