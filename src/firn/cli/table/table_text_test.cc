#include "firn/cli/table/table_text.h"

#include <gtest/gtest.h>

namespace firn::cli {
namespace {

constexpr int64_t kHourMs = 3'600'000;

iceberg::TableMetadata WithTwoSnapshots() {
  iceberg::TableMetadata metadata;
  for (const int64_t id : {1, 2}) {
    iceberg::Snapshot snapshot;
    snapshot.snapshot_id = id;
    snapshot.timestamp_ms = id * kHourMs;
    metadata.snapshots.push_back(snapshot);
    metadata.snapshot_log.push_back({id * kHourMs, id});
  }
  metadata.current_snapshot_id = 2;
  metadata.refs["main"].snapshot_id = 2;
  return metadata;
}

TEST(ChosenSnapshot, IsTheHeadUnlessAskedOtherwise) {
  const iceberg::TableMetadata metadata = WithTwoSnapshots();
  EXPECT_EQ((*ChosenSnapshot(metadata, std::nullopt, ""))->snapshot_id, 2);
  EXPECT_EQ((*ChosenSnapshot(metadata, 1, ""))->snapshot_id, 1);
  EXPECT_EQ(*ChosenSnapshot(iceberg::TableMetadata{}, std::nullopt, ""), nullptr);
}

TEST(ChosenSnapshot, AsOfIsTheLastThatWasCurrentBy) {
  const iceberg::TableMetadata metadata = WithTwoSnapshots();
  EXPECT_EQ((*ChosenSnapshot(metadata, std::nullopt, "1970-01-01T01:00:00Z"))->snapshot_id, 1);
  EXPECT_EQ((*ChosenSnapshot(metadata, std::nullopt, "1970-01-01T01:59:59.999"))->snapshot_id, 1);
  EXPECT_EQ((*ChosenSnapshot(metadata, std::nullopt, "1970-01-02"))->snapshot_id, 2);
}

TEST(ChosenSnapshot, WhatIsNotThereIsAnErrorOfTheUser) {
  const iceberg::TableMetadata metadata = WithTwoSnapshots();
  EXPECT_EQ(ChosenSnapshot(metadata, 9, "").error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(ChosenSnapshot(metadata, std::nullopt, "1970-01-01T00:30:00Z").error().kind(),
            ErrorKind::kNotFound);
  EXPECT_EQ(ChosenSnapshot(metadata, 1, "1970-01-02").error().kind(), ErrorKind::kInvalidArgument);
}

TEST(ParseInstant, TakesDatesTimestampsAndEpochMilliseconds) {
  EXPECT_EQ(*ParseInstantMs("1970-01-02"), 24 * kHourMs);
  EXPECT_EQ(*ParseInstantMs("1970-01-01T02:00:00+01:00"), kHourMs);
  EXPECT_EQ(*ParseInstantMs("1970-01-01 01:00:00.5"), kHourMs + 500);
  EXPECT_EQ(*ParseInstantMs("1234"), 1234);
  EXPECT_FALSE(ParseInstantMs("yesterday").ok());
  EXPECT_FALSE(ParseInstantMs("").ok());
}

TEST(SchemaText, NestedFieldsAreIndentedUnderTheirParent) {
  using iceberg::Type;
  const iceberg::TypePtr text = Type::Primitive(iceberg::TypeId::kString);
  std::vector<iceberg::NestedField> fields(2);
  fields[0] = {1, "id", true, Type::Primitive(iceberg::TypeId::kLong), "key", nullptr, nullptr};
  fields[1] = {2, "tags", false, Type::List(3, false, text), "", nullptr, nullptr};
  EXPECT_EQ(SchemaText(iceberg::Schema(0, fields), /*terminal=*/false),
            "ID\tCOLUMN\tTYPE\tREQUIRED\tDOC\n1\tid\tlong\tyes\tkey\n2\ttags\tlist\tno\t\n3\t  "
            "element\tstring\tno\t\n");
}

}  // namespace
}  // namespace firn::cli
