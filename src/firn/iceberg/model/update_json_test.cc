#include "firn/iceberg/model/update_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace firn::iceberg {
namespace {

using nlohmann::json;

json Written(Update update) { return ToJson(update, 2); }

TEST(UpdateJson, AddSnapshotHoldsTheSnapshotAsMetadataDoes) {
  Snapshot snapshot;
  snapshot.snapshot_id = 5;
  snapshot.sequence_number = 7;
  snapshot.manifest_list = "s3://b/list.avro";
  snapshot.operation = "append";
  const json written = Written(update::AddSnapshot{snapshot});
  EXPECT_EQ(written["action"], "add-snapshot");
  EXPECT_EQ(written["snapshot"], ToJson(snapshot, 2));
  EXPECT_EQ(written["snapshot"]["summary"]["operation"], "append");
}

TEST(UpdateJson, SetSnapshotRefNamesRefTypeAndSnapshot) {
  const json written = Written(update::SetSnapshotRef{"main", {.snapshot_id = 5}});
  EXPECT_EQ(
      written,
      json::parse(R"({"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":5})"));
}

TEST(UpdateJson, PropertiesAndSnapshotsToRemove) {
  EXPECT_EQ(Written(update::SetProperties{{{"a", "1"}}}),
            json::parse(R"({"action":"set-properties","updates":{"a":"1"}})"));
  EXPECT_EQ(Written(update::RemoveProperties{{"a"}}),
            json::parse(R"({"action":"remove-properties","removals":["a"]})"));
  EXPECT_EQ(Written(update::RemoveSnapshots{{1, 2}}),
            json::parse(R"({"action":"remove-snapshots","snapshot-ids":[1,2]})"));
}

TEST(UpdateJson, PartitionFieldWithoutIdLeavesItToTheServer) {
  PartitionSpec spec;
  spec.fields.push_back({.source_id = 1, .field_id = 0, .name = "a"});
  const json written = Written(update::AddPartitionSpec{spec});
  ASSERT_EQ(written["spec"]["fields"].size(), 1U);
  EXPECT_FALSE(written["spec"]["fields"][0].contains("field-id"));
  EXPECT_EQ(written["spec"]["fields"][0]["source-id"], 1);
}

TEST(UpdateJson, RequirementOfARefThatMustNotExistHasNull) {
  EXPECT_EQ(ToJson(Requirement(requirement::RefSnapshotId{"main", std::nullopt})),
            json::parse(R"({"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null})"));
  EXPECT_EQ(ToJson(Requirement(requirement::RefSnapshotId{"main", 9})),
            json::parse(R"({"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":9})"));
}

TEST(UpdateJson, RequirementsOfIds) {
  EXPECT_EQ(ToJson(Requirement(requirement::TableUuid{"u"})),
            json::parse(R"({"type":"assert-table-uuid","uuid":"u"})"));
  EXPECT_EQ(ToJson(Requirement(requirement::CurrentSchemaId{3})),
            json::parse(R"({"type":"assert-current-schema-id","current-schema-id":3})"));
  EXPECT_EQ(ToJson(Requirement(requirement::DefaultSpecId{0})),
            json::parse(R"({"type":"assert-default-spec-id","default-spec-id":0})"));
  EXPECT_EQ(ToJson(Requirement(requirement::LastAssignedFieldId{4})),
            json::parse(R"({"type":"assert-last-assigned-field-id","last-assigned-field-id":4})"));
}

}  // namespace
}  // namespace firn::iceberg
