#include "firn/iceberg/model/update.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/model/property.h"

namespace firn::iceberg {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kNow = 1'700'000'000'000;

NestedField Column(int32_t id, const char* name, TypeId type) {
  NestedField field;
  field.id = id;
  field.name = name;
  field.type = Type::Primitive(type);
  return field;
}

NewTable Definition(int format_version = 2) {
  NewTable table;
  table.uuid = "u-1";
  table.location = "s3://b/t/";
  table.schema = std::make_shared<Schema>(
      7, std::vector{Column(5, "ts", TypeId::kTimestamp), Column(9, "id", TypeId::kLong)});
  table.spec = {0, {{5, 0, "ts_day", Transform::Of(TransformKind::kDay)}}};
  table.order = {0, {SortField{9}}};
  table.format_version = format_version;
  return table;
}

TableMetadata Table(int format_version = 2) {
  return NewTableMetadata(Definition(format_version), kNow).value();
}

Snapshot MakeSnapshot(const TableMetadata& base, int64_t id, int64_t timestamp_ms) {
  Snapshot snapshot;
  snapshot.snapshot_id = id;
  snapshot.parent_snapshot_id = base.current_snapshot_id;
  snapshot.sequence_number = base.last_sequence_number + 1;
  snapshot.timestamp_ms = timestamp_ms;
  snapshot.manifest_list = "s3://b/t/metadata/snap.avro";
  snapshot.operation = "append";
  if (base.format_version >= 3) {
    snapshot.first_row_id = base.next_row_id;
    snapshot.added_rows = 10;
  }
  return snapshot;
}

std::vector<Update> Append(const Snapshot& snapshot, const char* branch = kMainBranch) {
  return {update::AddSnapshot{snapshot}, update::SetSnapshotRef{branch, {snapshot.snapshot_id}}};
}

TableMetadata Apply(const TableMetadata& base, const std::vector<Update>& updates, int64_t now_ms = kNow) {
  const Result<TableMetadata> next = ApplyUpdates(base, updates, {now_ms, ""});
  EXPECT_TRUE(next.ok()) << (next.ok() ? "" : next.error().ToString());
  return next.ok() ? *next : base;
}

TableMetadata WithSnapshots(int count, int64_t step_ms = 1000, int format_version = 2) {
  TableMetadata table = Table(format_version);
  for (int i = 1; i <= count; ++i)
    table = Apply(table, Append(MakeSnapshot(table, i, kNow + i * step_ms)), kNow + i * step_ms);
  return table;
}

std::string ErrorOf(const TableMetadata& base, const std::vector<Update>& updates) {
  const Result<TableMetadata> next = ApplyUpdates(base, updates, {kNow, ""});
  return next.ok() ? "" : next.error().ToString();
}

std::vector<int64_t> LogIds(const TableMetadata& metadata) {
  std::vector<int64_t> ids;
  for (const SnapshotLogEntry& entry : metadata.snapshot_log) ids.push_back(entry.snapshot_id);
  return ids;
}

// --- a new table

TEST(NewTableMetadata, AssignsFreshIdsAndFollowsThem) {
  const TableMetadata table = Table();
  EXPECT_EQ(table.schema()->schema_id(), 0);
  EXPECT_EQ(table.schema()->FindByName("ts")->id, 1);
  EXPECT_EQ(table.last_column_id, 2);
  EXPECT_EQ(table.spec().fields[0].source_id, 1);
  EXPECT_EQ(table.spec().fields[0].field_id, 1000);
  EXPECT_EQ(table.last_partition_id, 1000);
  EXPECT_EQ(table.sort_order().order_id, 1);
  EXPECT_EQ(table.sort_order().fields[0].source_id, 2);
  EXPECT_EQ(table.location, "s3://b/t");
  EXPECT_EQ(table.properties.at("write.parquet.compression-codec"), "zstd");
}

TEST(NewTableMetadata, KeepsIdsOnRequest) {
  NewTable table = Definition();
  table.keep_field_ids = true;
  const TableMetadata metadata = NewTableMetadata(table, kNow).value();
  EXPECT_EQ(metadata.schema()->FindByName("id")->id, 9);
  EXPECT_EQ(metadata.spec().fields[0].source_id, 5);
  EXPECT_EQ(metadata.last_column_id, 9);
}

TEST(NewTableMetadata, RefusesWhatCannotBe) {
  const auto error = [](NewTable table) { return NewTableMetadata(table, kNow).error().ToString(); };
  NewTable table = Definition();
  table.properties["format-version"] = "2";
  EXPECT_THAT(error(table), HasSubstr("'format-version' is reserved"));
  table = Definition();
  table.spec.fields[0].source_id = 50;
  EXPECT_THAT(error(table), HasSubstr("source id 50 names no single column"));
  table = Definition();
  table.format_version = 1;
  EXPECT_THAT(error(table), HasSubstr("version 2 or 3"));
  table = Definition();
  table.schema = std::make_shared<Schema>(
      0, std::vector{Column(5, "ts", TypeId::kTimestampNs), Column(9, "id", TypeId::kLong)});
  EXPECT_THAT(error(table), HasSubstr("needs format version 3"));
}

// --- snapshots and refs

TEST(ApplyUpdates, NothingChangesNothing) {
  const TableMetadata base = WithSnapshots(1);
  EXPECT_EQ(ToJson(ApplyUpdates(base, {}, {kNow + 99'999, "previous"}).value()), ToJson(base));
}

TEST(AddSnapshot, MovesMainAndTheLog) {
  const TableMetadata table = WithSnapshots(2);
  EXPECT_EQ(table.current_snapshot_id, 2);
  EXPECT_EQ(table.last_sequence_number, 2);
  EXPECT_EQ(table.last_updated_ms, kNow + 2000);
  EXPECT_THAT(LogIds(table), ElementsAre(1, 2));
  EXPECT_EQ(table.snapshot_log[1].timestamp_ms, kNow + 2000);
}

TEST(AddSnapshot, OfASideBranchLeavesMainAlone) {
  const TableMetadata base = WithSnapshots(1);
  const TableMetadata table = Apply(base, Append(MakeSnapshot(base, 5, kNow + 5000), "audit"));
  EXPECT_EQ(table.current_snapshot_id, 1);
  EXPECT_THAT(LogIds(table), ElementsAre(1));
  EXPECT_EQ(table.Head("audit")->snapshot_id, 5);
}

TEST(AddSnapshot, StaleSequenceNumbersAndRepeatedIdsAreRefused) {
  const TableMetadata base = WithSnapshots(2);
  Snapshot stale = MakeSnapshot(base, 5, kNow);
  stale.sequence_number = 2;
  EXPECT_THAT(ErrorOf(base, {update::AddSnapshot{stale}}),
              HasSubstr("add-snapshot: sequence number 2 is not above the table's last, 2"));
  EXPECT_THAT(ErrorOf(base, {update::AddSnapshot{MakeSnapshot(base, 2, kNow)}}),
              HasSubstr("snapshot 2 is there already"));
}

TEST(AddSnapshot, AssignsRowIdsInVersionThree) {
  const TableMetadata table = WithSnapshots(2, 1000, 3);
  EXPECT_EQ(table.next_row_id, 20);
  Snapshot behind = MakeSnapshot(table, 9, kNow);
  behind.first_row_id = 19;
  EXPECT_THAT(ErrorOf(table, {update::AddSnapshot{behind}}),
              HasSubstr("first-row-id 19 is behind the table's next-row-id 20"));
  behind.first_row_id.reset();
  EXPECT_THAT(ErrorOf(table, {update::AddSnapshot{behind}}), HasSubstr("needs first-row-id"));
}

TEST(ApplyUpdates, TimeNeverRunsBackwards) {
  const TableMetadata base = WithSnapshots(1, 60'000);
  const TableMetadata table = Apply(base, {update::SetProperties{{{"a", "b"}}}}, kNow - 1'000'000);
  EXPECT_EQ(table.last_updated_ms, base.last_updated_ms);
}

TEST(SetSnapshotRef, RollbackIsLoggedWithTheTimeOfTheCommit) {
  const TableMetadata base = WithSnapshots(3);
  const TableMetadata table = Apply(base, {update::SetSnapshotRef{kMainBranch, {1}}}, kNow + 50'000);
  EXPECT_EQ(table.current_snapshot_id, 1);
  EXPECT_THAT(LogIds(table), ElementsAre(1, 2, 3, 1));
  EXPECT_EQ(table.snapshot_log.back().timestamp_ms, kNow + 50'000);
}

TEST(SetSnapshotRef, SnapshotsCurrentOnlyInsideTheCommitLeaveNoTrace) {
  const TableMetadata base = WithSnapshots(1);
  Snapshot second = MakeSnapshot(base, 2, kNow + 2000);
  Snapshot third = second;
  third.snapshot_id = 3;
  third.sequence_number = second.sequence_number + 1;
  std::vector<Update> updates = Append(second);
  for (const Update& update : Append(third)) updates.push_back(update);
  EXPECT_THAT(LogIds(Apply(base, updates)), ElementsAre(1, 3));
}

TEST(SetSnapshotRef, BadTargetsAreRefused) {
  const TableMetadata base = WithSnapshots(1);
  EXPECT_THAT(ErrorOf(base, {update::SetSnapshotRef{"x", {77}}}),
              HasSubstr("set-snapshot-ref: ref 'x' cannot point to snapshot 77"));
  EXPECT_THAT(ErrorOf(base, {update::SetSnapshotRef{kMainBranch, {1, RefType::kTag}}}),
              HasSubstr("main must be a branch"));
}

TEST(RemoveSnapshots, ClearsLogRefsAndStatistics) {
  TableMetadata base = WithSnapshots(3);
  base = Apply(base, {update::SetSnapshotRef{"old", {2, RefType::kTag}}});
  base.statistics = nlohmann::json::parse(
      R"([{"snapshot-id":2,"statistics-path":"a"},{"snapshot-id":3,"statistics-path":"b"}])");
  const TableMetadata table = Apply(base, {update::RemoveSnapshots{{2}}});
  EXPECT_EQ(table.snapshots.size(), 2U);
  EXPECT_THAT(LogIds(table), ElementsAre(3));
  EXPECT_FALSE(table.refs.contains("old"));
  ASSERT_EQ(table.statistics.size(), 1U);
  EXPECT_EQ(table.statistics[0]["snapshot-id"], 3);
}

TEST(RemoveSnapshots, OfTheHeadTakesMainAlong) {
  const TableMetadata table = Apply(WithSnapshots(2), {update::RemoveSnapshots{{2}}});
  EXPECT_EQ(table.current_snapshot_id, std::nullopt);
  EXPECT_TRUE(table.snapshot_log.empty());
  EXPECT_TRUE(table.refs.empty());
}

// --- schemas, specs, orders, properties

TEST(AddSchema, ReusesAnEqualOneAndNumbersANewOne) {
  const TableMetadata base = Table();
  TableMetadata table =
      Apply(base, {update::AddSchema{base.schema()->WithId(40)}, update::SetCurrentSchema{}});
  EXPECT_EQ(table.schemas.size(), 1U);
  std::vector<NestedField> fields = base.schema()->fields();
  fields.push_back(Column(3, "more", TypeId::kString));
  table = Apply(base, {update::AddSchema{std::make_shared<Schema>(0, fields)}, update::SetCurrentSchema{}});
  EXPECT_EQ(table.current_schema_id, 1);
  EXPECT_EQ(table.last_column_id, 3);
  EXPECT_THAT(ErrorOf(base, {update::SetCurrentSchema{}}), HasSubstr("nothing was added before"));
  EXPECT_THAT(ErrorOf(base, {update::SetCurrentSchema{4}}), HasSubstr("there is no schema 4"));
  fields.back().type = Type::Primitive(TypeId::kVariant);
  EXPECT_THAT(ErrorOf(base, {update::AddSchema{std::make_shared<Schema>(0, fields)}}),
              HasSubstr("'more' of type variant needs format version 3"));
}

TEST(AddPartitionSpec, ReusesSpecsAndFieldIds) {
  const TableMetadata base = Table();
  const PartitionField day{1, 0, "ts_day", Transform::Of(TransformKind::kDay)};
  const PartitionField bucket{2, 0, "id_bucket", Transform::Bucket(4)};
  EXPECT_EQ(Apply(base, {update::AddPartitionSpec{{9, {day}}}}).partition_specs.size(), 1U);
  const TableMetadata table =
      Apply(base, {update::AddPartitionSpec{{0, {bucket, day}}}, update::SetDefaultSpec{}});
  EXPECT_EQ(table.default_spec_id, 1);
  EXPECT_EQ(table.spec().fields[0].field_id, 1001);
  EXPECT_EQ(table.spec().fields[1].field_id, 1000);
  EXPECT_EQ(table.last_partition_id, 1001);
}

TEST(AddSortOrder, UnsortedIsZeroAndOthersCountOn) {
  const TableMetadata base = Table();
  TableMetadata table =
      Apply(base, {update::AddSortOrder{{0, {SortField{1}}}}, update::SetDefaultSortOrder{}});
  EXPECT_EQ(table.default_sort_order_id, 2);
  table = Apply(table, {update::AddSortOrder{}, update::SetDefaultSortOrder{}});
  EXPECT_EQ(table.default_sort_order_id, 0);
  table = Apply(table, {update::AddSortOrder{{0, {SortField{1}}}}, update::SetDefaultSortOrder{}});
  EXPECT_EQ(table.default_sort_order_id, 2);
}

TEST(ApplyUpdates, IdsDoNotWrapAround) {
  TableMetadata base = Table();
  base.last_partition_id = std::numeric_limits<int32_t>::max();
  const PartitionField bucket{2, 0, "id_bucket", Transform::Bucket(4)};
  EXPECT_THAT(ErrorOf(base, {update::AddPartitionSpec{{0, {bucket}}}}), HasSubstr("used up its ids"));
}

TEST(MetadataLog, KeepsAsManyAsTheTableSays) {
  TableMetadata table = Table();
  table.properties["write.metadata.previous-versions-max"] = "2";
  for (int i = 0; i < 4; ++i) {
    table = ApplyUpdates(table, {update::SetProperties{{{"i", std::to_string(i)}}}},
                         {kNow + i, "file-" + std::to_string(i)})
                .value();
  }
  ASSERT_EQ(table.metadata_log.size(), 2U);
  EXPECT_EQ(table.metadata_log[0].metadata_file, "file-2");
  EXPECT_EQ(table.metadata_log[1].metadata_file, "file-3");
  EXPECT_EQ(table.metadata_log[1].timestamp_ms, kNow + 2) << "the time of the file that was replaced";
}

TEST(UpgradeFormatVersion, GoesUpOnly) {
  EXPECT_EQ(Apply(Table(), {update::UpgradeFormatVersion{3}}).format_version, 3);
  EXPECT_THAT(ErrorOf(Table(3), {update::UpgradeFormatVersion{2}}), HasSubstr("cannot go back"));
  EXPECT_THAT(ErrorOf(Table(), {update::UpgradeFormatVersion{4}}), HasSubstr("newer than 3"));
}

TEST(AssignUuid, NeverChangesOneThatIsThere) {
  EXPECT_THAT(ErrorOf(Table(), {update::AssignUuid{"other"}}), HasSubstr("has the UUID u-1 already"));
  TableMetadata old = Table();
  old.format_version = 1;
  old.table_uuid.clear();
  EXPECT_THAT(ErrorOf(old, {update::UpgradeFormatVersion{2}}), HasSubstr("assign-uuid is needed"));
  EXPECT_EQ(Apply(old, {update::UpgradeFormatVersion{2}, update::AssignUuid{"new"}}).table_uuid, "new");
}

TEST(SetProperties, ReservedNamesAreRefused) {
  EXPECT_THAT(ErrorOf(Table(), {update::SetProperties{{{"current-schema", "x"}}}}),
              HasSubstr("set-properties: property 'current-schema' is reserved"));
  const TableMetadata table = Apply(Table(), {update::SetProperties{{{"a", "1"}, {"b", "2"}}},
                                              update::RemoveProperties{{"a", "never-there"}}});
  EXPECT_FALSE(table.properties.contains("a"));
  EXPECT_EQ(table.properties.at("b"), "2");
}

// --- requirements

TEST(CheckRequirements, HoldOrNameBothValues) {
  const TableMetadata table = WithSnapshots(1);
  EXPECT_TRUE(CheckRequirements(
                  &table, {requirement::TableUuid{"u-1"}, requirement::RefSnapshotId{"main", 1},
                           requirement::RefSnapshotId{"none", std::nullopt}, requirement::CurrentSchemaId{0},
                           requirement::DefaultSpecId{0}, requirement::DefaultSortOrderId{1},
                           requirement::LastAssignedFieldId{2}, requirement::LastAssignedPartitionId{1000}})
                  .ok());
  const auto error = [&table](Requirement wanted) {
    return CheckRequirements(&table, {std::move(wanted)}).error();
  };
  EXPECT_EQ(error(requirement::RefSnapshotId{"main", 2}).kind(), ErrorKind::kConflict);
  EXPECT_THAT(error(requirement::RefSnapshotId{"main", 2}).message(),
              HasSubstr("assert-ref-snapshot-id of 'main' failed: expected 2, the table has 1"));
  EXPECT_THAT(error(requirement::RefSnapshotId{"main", std::nullopt}).message(),
              HasSubstr("expected none, the table has 1"));
  EXPECT_THAT(error(requirement::RefSnapshotId{"gone", 4}).message(),
              HasSubstr("expected 4, the table has none"));
  EXPECT_THAT(error(requirement::TableUuid{"u-2"}).message(), HasSubstr("assert-table-uuid failed"));
  EXPECT_THAT(error(requirement::CurrentSchemaId{3}).message(),
              HasSubstr("assert-current-schema-id failed: expected 3, the table has 0"));
  EXPECT_THAT(error(requirement::TableDoesNotExist{}).message(), HasSubstr("the table exists"));
}

TEST(CheckRequirements, OfAMissingTable) {
  EXPECT_TRUE(CheckRequirements(nullptr, {requirement::TableDoesNotExist{}}).ok());
  EXPECT_EQ(CheckRequirements(nullptr, {requirement::TableUuid{"u"}}).error().kind(), ErrorKind::kConflict);
}

// --- expiry

constexpr int64_t kDay = 86'400'000;

std::vector<int64_t> Expired(const TableMetadata& table, int64_t now_ms, bool keep_refs = true) {
  for (const Update& update : PlanExpiry(table, now_ms, keep_refs)) {
    if (const auto* removal = std::get_if<update::RemoveSnapshots>(&update)) return removal->snapshot_ids;
  }
  return {};
}

TEST(PlanExpiry, KeepsYoungSnapshotsAndTheHead) {
  const TableMetadata table = WithSnapshots(4, kDay);
  EXPECT_THAT(Expired(table, kNow + 4 * kDay), ElementsAre());
  EXPECT_THAT(Expired(table, kNow + 7 * kDay), ElementsAre(1));
  EXPECT_THAT(Expired(table, kNow + 400 * kDay), ElementsAre(1, 2, 3));
}

TEST(PlanExpiry, KeepsTheWantedNumber) {
  TableMetadata table = WithSnapshots(4, kDay);
  table.properties["history.expire.min-snapshots-to-keep"] = "3";
  EXPECT_THAT(Expired(table, kNow + 400 * kDay), ElementsAre(1));
}

TEST(PlanExpiry, RefsProtectTheirSnapshotUntilTheyExpire) {
  TableMetadata table = WithSnapshots(4, kDay);
  SnapshotRef tag{2, RefType::kTag};
  tag.max_ref_age_ms = 10 * kDay;
  table = Apply(table, {update::SetSnapshotRef{"t", tag}});
  EXPECT_THAT(Expired(table, kNow + 9 * kDay, false), ElementsAre(1, 3));
  EXPECT_THAT(Expired(table, kNow + 400 * kDay, true), ElementsAre(1, 3));
  EXPECT_THAT(Expired(table, kNow + 400 * kDay, false), ElementsAre(1, 2, 3));
  const std::vector<Update> plan = PlanExpiry(table, kNow + 400 * kDay, false);
  EXPECT_EQ(std::get<update::RemoveSnapshotRef>(plan.at(0)).name, "t");
}

TEST(PlanExpiry, YoungSnapshotsOutsideOfEveryBranchStay) {
  TableMetadata table = WithSnapshots(3, kDay);
  table = Apply(table, {update::SetSnapshotRef{kMainBranch, {1}}}, kNow + 3 * kDay);
  EXPECT_THAT(Expired(table, kNow + 5 * kDay), ElementsAre());
  EXPECT_THAT(Expired(table, kNow + 100 * kDay), ElementsAre(2, 3));
}

TEST(PlanExpiry, NothingWithoutGarbageCollectionOrReadableRules) {
  TableMetadata table = WithSnapshots(4, kDay);
  table.properties["gc.enabled"] = "false";
  EXPECT_TRUE(PlanExpiry(table, kNow + 400 * kDay, false).empty());
  table.properties["gc.enabled"] = "true";
  table.properties["history.expire.max-snapshot-age-ms"] = "five days";
  EXPECT_TRUE(PlanExpiry(table, kNow + 400 * kDay, false).empty());
}

TEST(PlanExpiry, TimesAtTheEndsOfTheirRangeDoNotWrap) {
  TableMetadata table = WithSnapshots(2, kDay);
  table.snapshots[0].timestamp_ms = std::numeric_limits<int64_t>::min();
  table.properties["history.expire.max-snapshot-age-ms"] =
      std::to_string(std::numeric_limits<int64_t>::max());
  EXPECT_THAT(Expired(table, kNow, false), ElementsAre(1));
  table.properties["history.expire.max-snapshot-age-ms"] =
      std::to_string(std::numeric_limits<int64_t>::min());
  EXPECT_THAT(Expired(table, kNow, false), ElementsAre(1));
}

TEST(PlanExpiry, ItsUpdatesApply) {
  const TableMetadata table = WithSnapshots(4, kDay);
  const TableMetadata after = Apply(table, PlanExpiry(table, kNow + 400 * kDay, false), kNow + 400 * kDay);
  EXPECT_EQ(after.snapshots.size(), 1U);
  EXPECT_THAT(LogIds(after), ElementsAre(4));
}

// --- properties

TEST(GetProperty, DefaultsAndErrors) {
  EXPECT_EQ(GetProperty({}, property::kTargetFileSizeBytes).value(), 536'870'912);
  EXPECT_EQ(
      GetProperty({{"commit.manifest-merge.enabled", "False"}}, property::kManifestMergeEnabled).value(),
      false);
  EXPECT_THAT(
      GetProperty({{"commit.manifest.min-count-to-merge", "many"}}, property::kManifestMinCountToMerge)
          .error()
          .message(),
      HasSubstr("commit.manifest.min-count-to-merge = 'many'"));
  EXPECT_EQ(FindInt32Property({}, property::kParquetCompressionLevel).value(), std::nullopt);
  EXPECT_EQ(FindInt32Property({{"write.parquet.compression-level", "3"}}, property::kParquetCompressionLevel)
                .value(),
            3);
}

}  // namespace
}  // namespace firn::iceberg
