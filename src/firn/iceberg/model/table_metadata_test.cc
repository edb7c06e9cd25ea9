#include "firn/iceberg/model/table_metadata.h"

#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/model/gzip.h"

namespace firn::iceberg {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string ReadGolden(const char* name) {
  std::ifstream in(std::string(FIRN_SOURCE_DIR "/test/golden/iceberg/metadata/") + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

json Valid() { return json::parse(ReadGolden("java-v2.metadata.json")); }

std::string ErrorOf(const json& metadata) {
  const Result<TableMetadata> parsed = ParseTableMetadata(metadata.dump(), "s3://b/x.metadata.json");
  return parsed.ok() ? "" : parsed.error().ToString();
}

TEST(ParseTableMetadata, ReadsWhatJavaWrote) {
  const TableMetadata metadata = ParseTableMetadata(ReadGolden("java-v3.metadata.json"), "x").value();
  EXPECT_EQ(metadata.format_version, 3);
  EXPECT_EQ(metadata.table_uuid, "9c12d441-03fe-4693-9a96-a0705ddf69c1");
  EXPECT_EQ(metadata.snapshots.size(), 3U);
  EXPECT_EQ(metadata.next_row_id, 30);
  EXPECT_EQ(metadata.current_snapshot()->snapshot_id, 1003);
  EXPECT_EQ(metadata.current_snapshot()->operation, "append");
  EXPECT_EQ(metadata.current_snapshot()->summary.at("added-records"), "10");
  EXPECT_EQ(metadata.Head("monthly")->snapshot_id, 1002);
  EXPECT_EQ(metadata.Head("nowhere"), nullptr);
  EXPECT_EQ(metadata.schema()->FindByName("level")->initial_default->get<int32_t>(), 7);
  EXPECT_EQ(metadata.metadata_log.size(), 3U);
}

TEST(ParseTableMetadata, VersionOneInItsLeastFormIsUpgradedInMemory) {
  const TableMetadata metadata = ParseTableMetadata(ReadGolden("spec-v1-minimal.metadata.json"), "x").value();
  EXPECT_EQ(metadata.format_version, 1);
  EXPECT_EQ(metadata.table_uuid, "");
  EXPECT_EQ(metadata.schema()->fields().size(), 3U);
  EXPECT_EQ(metadata.spec().fields[1].field_id, 1001);
  EXPECT_EQ(metadata.last_partition_id, 1001);
  EXPECT_FALSE(metadata.sort_order().is_sorted());
  EXPECT_EQ(metadata.current_snapshot_id, std::nullopt);
  EXPECT_EQ(metadata.snapshots[0].sequence_number, 0);
  EXPECT_EQ(metadata.snapshots[0].manifests[0], "s3://bucket/a.avro");
  EXPECT_EQ(SerializeTableMetadata(metadata, "none").error().kind(), ErrorKind::kUnsupported);
}

TEST(ParseTableMetadata, NoCurrentSnapshotHasThreeForms) {
  json metadata = json::parse(ReadGolden("java-v2-empty.metadata.json"));
  for (const json& none : {json(-1), json(nullptr)}) {
    metadata["current-snapshot-id"] = none;
    EXPECT_EQ(ParseTableMetadata(metadata.dump(), "x").value().current_snapshot_id, std::nullopt);
  }
  metadata.erase("current-snapshot-id");
  EXPECT_EQ(ParseTableMetadata(metadata.dump(), "x").value().current_snapshot_id, std::nullopt);
}

TEST(ParseTableMetadata, MainIsImpliedByTheCurrentSnapshot) {
  json metadata = Valid();
  metadata.erase("refs");
  EXPECT_EQ(ParseTableMetadata(metadata.dump(), "x").value().refs.at("main").snapshot_id, 1003);
}

TEST(ParseTableMetadata, ErrorsNameTheFileAndThePlace) {
  EXPECT_THAT(ParseTableMetadata("", "s3://b/x").error().ToString(),
              HasSubstr("table metadata s3://b/x: not JSON"));
  EXPECT_THAT(ParseTableMetadata("[]", "x").error().ToString(), HasSubstr("must be an object"));
  json metadata = Valid();
  metadata["snapshots"][1]["timestamp-ms"] = "soon";
  EXPECT_THAT(ErrorOf(metadata),
              HasSubstr("snapshots[1]: 'timestamp-ms' must be an integer of 64 bits, found string"));
}

TEST(ParseTableMetadata, EveryMissingRequiredFieldIsNamed) {
  for (const char* key : {"format-version", "table-uuid", "location", "last-sequence-number",
                          "last-updated-ms", "last-column-id", "current-schema-id", "default-spec-id",
                          "last-partition-id", "default-sort-order-id"}) {
    json metadata = Valid();
    metadata.erase(key);
    EXPECT_THAT(ErrorOf(metadata), HasSubstr(std::string("'") + key + "' is missing"));
  }
  json v3 = json::parse(ReadGolden("java-v3.metadata.json"));
  v3.erase("next-row-id");
  EXPECT_THAT(ErrorOf(v3), HasSubstr("'next-row-id' is missing"));
}

TEST(ParseTableMetadata, ReferencesMustResolve) {
  const std::pair<const char*, const char*> cases[] = {{"current-schema-id", "none of the schemas"},
                                                       {"default-spec-id", "none of the partition specs"},
                                                       {"default-sort-order-id", "none of the sort orders"}};
  for (const auto& [key, message] : cases) {
    json metadata = Valid();
    metadata[key] = 77;
    EXPECT_THAT(ErrorOf(metadata), HasSubstr(message));
  }
  json dangling = Valid();
  dangling["refs"]["audit"]["snapshot-id"] = 5;
  EXPECT_THAT(ErrorOf(dangling), HasSubstr("ref 'audit' points to snapshot 5"));
  json contradicting = Valid();
  contradicting["current-snapshot-id"] = 1001;
  EXPECT_THAT(ErrorOf(contradicting), HasSubstr("is not the snapshot 1003 of branch main"));
}

TEST(ParseTableMetadata, NewerVersionsAreUnsupported) {
  json metadata = Valid();
  metadata["format-version"] = 4;
  EXPECT_EQ(ParseTableMetadata(metadata.dump(), "x").error().kind(), ErrorKind::kUnsupported);
}

TEST(ParseTableMetadata, DeepNestingIsRefusedBeforeParsing) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(ParseTableMetadata(deep, "x").error().ToString(), HasSubstr("nested deeper"));
}

TEST(SerializeTableMetadata, GzipReadsBackTheSame) {
  const TableMetadata metadata = ParseTableMetadata(ReadGolden("java-v2.metadata.json"), "x").value();
  const std::string packed = SerializeTableMetadata(metadata, "gzip").value();
  EXPECT_TRUE(IsGzip(packed));
  EXPECT_EQ(ToJson(ParseTableMetadata(packed, "x").value()), ToJson(metadata));
  EXPECT_FALSE(SerializeTableMetadata(metadata, "brotli").ok());
}

TEST(SerializeTableMetadata, TextThatIsNotUtf8IsAnError) {
  TableMetadata metadata = ParseTableMetadata(ReadGolden("java-v2.metadata.json"), "x").value();
  metadata.properties["bad"] = "\xFF";
  EXPECT_EQ(SerializeTableMetadata(metadata, "none").error().kind(), ErrorKind::kInvalidArgument);
}

TEST(Gzip, DamageAndExcessAreErrors) {
  const std::string packed = GzipCompress(std::string(1000, 'x'));
  EXPECT_EQ(GzipDecompress(packed, 1000).value(), std::string(1000, 'x'));
  EXPECT_EQ(GzipDecompress(packed + packed, 2000).value().size(), 2000U);
  EXPECT_FALSE(GzipDecompress(packed, 999).ok());
  EXPECT_FALSE(GzipDecompress(packed.substr(0, packed.size() - 9), 1000).ok());
  std::string flipped = packed;
  flipped[flipped.size() - 6] ^= 1;
  EXPECT_FALSE(GzipDecompress(flipped, 1000).ok());
}

TEST(NewMetadataLocation, CountsOnFromThePreviousFile) {
  TableMetadata metadata;
  metadata.location = "s3://b/t/";
  EXPECT_EQ(NewMetadataLocation(metadata, "", "u"), "s3://b/t/metadata/00000-u.metadata.json");
  EXPECT_EQ(NewMetadataLocation(metadata, "s3://b/t/metadata/00041-x.metadata.json", "u"),
            "s3://b/t/metadata/00042-u.metadata.json");
  EXPECT_EQ(NewMetadataLocation(metadata, "s3://b/t/metadata/v3.metadata.json", "u"),
            "s3://b/t/metadata/00000-u.metadata.json");
  EXPECT_EQ(NewMetadataLocation(metadata, "s3://b/t/metadata/x-y.metadata.json", "u"),
            "s3://b/t/metadata/00000-u.metadata.json");
  metadata.properties = {{"write.metadata.path", "s3://meta/"}, {"write.metadata.compression-codec", "gzip"}};
  EXPECT_EQ(NewMetadataLocation(metadata, "", "u"), "s3://meta/00000-u.gz.metadata.json");
}

TEST(TableMetadataPartitionType, FindsADroppedSourceInAnOlderSchema) {
  TableMetadata metadata;
  NestedField column;
  column.id = 1;
  column.name = "gone";
  column.type = Type::Primitive(TypeId::kString);
  metadata.schemas = {std::make_shared<Schema>(0, std::vector{column}),
                      std::make_shared<Schema>(1, std::vector<NestedField>{})};
  metadata.current_schema_id = 1;
  const PartitionSpec spec{0, {{1, 1000, "gone", Transform::Identity()}}};
  EXPECT_EQ(metadata.PartitionType(spec).value()->ToString(), "struct<1000: gone: optional string>");
}

}  // namespace
}  // namespace firn::iceberg
