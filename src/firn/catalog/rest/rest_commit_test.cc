#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "firn/catalog/rest/commit_answer.h"
#include "firn/iceberg/model/update_json.h"

namespace firn::catalog::rest {
namespace {

using iceberg::CommitConflict;
using iceberg::CommitDone;
using iceberg::CommitRejected;
using iceberg::CommitUnknown;

iceberg::TableMetadata Metadata() {
  iceberg::NewTable table;
  table.uuid = "6f0c9c1e-0000-4000-8000-000000000001";
  table.location = "memory://lake/t";
  table.schema = std::make_shared<iceberg::Schema>(
      0, std::vector<iceberg::NestedField>{
             {.id = 1, .name = "a", .type = iceberg::Type::Primitive(iceberg::TypeId::kLong)}});
  return iceberg::NewTableMetadata(table, 1000).value();
}

/// A commit of one snapshot, and the table that it makes.
class CommitTest : public ::testing::Test {
 protected:
  CommitTest() {
    iceberg::Snapshot snapshot;
    snapshot.snapshot_id = 77;
    snapshot.sequence_number = 1;
    snapshot.timestamp_ms = 2000;
    snapshot.manifest_list = "memory://lake/t/metadata/list.avro";
    snapshot.operation = "append";
    commit_.base = {{{"ns"}, "t"},
                    "memory://lake/t/0.json",
                    std::make_shared<const iceberg::TableMetadata>(Metadata()),
                    nullptr};
    commit_.updates = {iceberg::update::AddSnapshot{snapshot},
                       iceberg::update::SetSnapshotRef{"main", {.snapshot_id = 77}}};
    commit_.requirements = {iceberg::requirement::TableUuid{commit_.base.metadata->table_uuid},
                            iceberg::requirement::RefSnapshotId{"main", std::nullopt}};
  }

  std::string Body(const iceberg::TableMetadata& table) const {
    return nlohmann::json{{"metadata-location", "memory://lake/t/1.json"},
                          {"metadata", iceberg::ToJson(table)}}
        .dump();
  }
  iceberg::TableMetadata Next() const {
    return iceberg::ApplyUpdates(*commit_.base.metadata, commit_.updates, {3000, "memory://lake/t/0.json"})
        .value();
  }
  iceberg::CatalogCommitResult Of(int status, std::string body, std::string type = "application/json") const {
    return CommitResultOf(
        commit_, http::HttpResponse{status, {{"content-type", std::move(type)}}, std::move(body)}, "POST x");
  }
  iceberg::CatalogCommitResult OfError(int status, std::string_view type) const {
    return Of(status, R"({"error":{"message":"words","type":")" + std::string(type) + R"("}})");
  }
  iceberg::CatalogCommitResult OfTransport(ErrorKind kind) const {
    return CommitResultOf(commit_, Error(kind, "broken"), "POST x");
  }

  iceberg::TableCommit commit_;
};

TEST_F(CommitTest, BodyHoldsRequirementsAndUpdates) {
  const auto body = nlohmann::json::parse(CommitBody(commit_).value());
  EXPECT_EQ(body["identifier"], nlohmann::json::parse(R"({"namespace":["ns"],"name":"t"})"));
  ASSERT_EQ(body["requirements"].size(), 2U);
  EXPECT_EQ(body["requirements"][1]["type"], "assert-ref-snapshot-id");
  EXPECT_TRUE(body["requirements"][1]["snapshot-id"].is_null());
  ASSERT_EQ(body["updates"].size(), 2U);
  EXPECT_EQ(body["updates"][0]["snapshot"]["snapshot-id"], 77);
  EXPECT_EQ(body["updates"][1]["ref-name"], "main");
}

TEST_F(CommitTest, SuccessWithTheNewSnapshotIsDone) {
  auto result = Of(200, Body(Next()));
  ASSERT_TRUE(std::holds_alternative<CommitDone>(result));
  const auto& table = std::get<CommitDone>(result).table;
  EXPECT_EQ(table.metadata_location, "memory://lake/t/1.json");
  EXPECT_EQ(table.metadata->current_snapshot_id, 77);
}

TEST_F(CommitTest, SuccessThatSaysSomethingElseIsUnknown) {
  EXPECT_TRUE(std::holds_alternative<CommitUnknown>(Of(200, Body(Metadata()))));  // without the snapshot
  iceberg::TableMetadata other = Next();
  other.table_uuid = "6f0c9c1e-0000-4000-8000-000000000002";
  EXPECT_TRUE(std::holds_alternative<CommitUnknown>(Of(200, Body(other))));
  EXPECT_TRUE(std::holds_alternative<CommitUnknown>(Of(200, "<html>maintenance</html>", "text/html")));
  EXPECT_TRUE(std::holds_alternative<CommitUnknown>(Of(200, "{}")));
  EXPECT_TRUE(std::holds_alternative<CommitUnknown>(Of(200, "")));
  EXPECT_TRUE(std::holds_alternative<CommitUnknown>(Of(204, "")));
}

TEST_F(CommitTest, SuccessWithoutTheNewPropertyIsUnknown) {
  commit_.updates = {iceberg::update::SetProperties{{{"firn.complete.p", "7"}}}};
  iceberg::TableMetadata table = Metadata();
  EXPECT_TRUE(std::holds_alternative<CommitUnknown>(Of(200, Body(table))));
  table.properties["firn.complete.p"] = "6";
  EXPECT_TRUE(std::holds_alternative<CommitUnknown>(Of(200, Body(table))));
  table.properties["firn.complete.p"] = "7";
  EXPECT_TRUE(std::holds_alternative<CommitDone>(Of(200, Body(table))));
}

TEST_F(CommitTest, SuccessWithoutTheNewSchemaIsUnknown) {
  const auto schema = std::make_shared<iceberg::Schema>(
      1, std::vector<iceberg::NestedField>{
             {.id = 1, .name = "a", .type = iceberg::Type::Primitive(iceberg::TypeId::kLong)},
             {.id = 2, .name = "b", .type = iceberg::Type::Primitive(iceberg::TypeId::kString)}});
  commit_.updates = {iceberg::update::AddSchema{schema}, iceberg::update::SetCurrentSchema{-1}};
  EXPECT_TRUE(std::holds_alternative<CommitUnknown>(Of(200, Body(Metadata()))));
  EXPECT_TRUE(std::holds_alternative<CommitDone>(Of(200, Body(Next()))));
}

TEST_F(CommitTest, LostRaceIsAConflictThatMayBeAnEcho) {
  auto result = OfError(409, "CommitFailedException");
  ASSERT_TRUE(std::holds_alternative<CommitConflict>(result));
  EXPECT_TRUE(std::get<CommitConflict>(result).may_be_echo);
  EXPECT_TRUE(std::holds_alternative<CommitConflict>(Of(409, "<html>", "text/html")));
}

TEST_F(CommitTest, ServerErrorsAreUnknown) {
  for (const int status : {408, 500, 502, 503, 504, 507, 520, 599}) {
    EXPECT_TRUE(std::holds_alternative<CommitUnknown>(OfError(status, "X"))) << status;
    EXPECT_TRUE(std::holds_alternative<CommitUnknown>(Of(status, "<html>", "text/html"))) << status;
  }
  EXPECT_TRUE(std::holds_alternative<CommitUnknown>(OfError(400, "CommitStateUnknownException")));
}

TEST_F(CommitTest, RefusalsAreRejectedForGood) {
  for (const int status : {400, 401, 403, 404, 406, 419, 422, 501}) {
    auto result = OfError(status, "X");
    ASSERT_TRUE(std::holds_alternative<CommitRejected>(result)) << status;
    EXPECT_EQ(std::get<CommitRejected>(result).error.retry(), RetryHint::kNo) << status;
  }
}

TEST_F(CommitTest, RefusalInWordsThatAreNotTheCatalogsMayHaveComeAfterTheFact) {
  EXPECT_FALSE(std::get<CommitRejected>(OfError(403, "ForbiddenException")).may_have_passed);
  EXPECT_TRUE(std::get<CommitRejected>(Of(403, "<html>blocked</html>", "text/html")).may_have_passed);
  EXPECT_TRUE(std::get<CommitRejected>(Of(401, R"({"message":"Unauthorized"})")).may_have_passed);
  EXPECT_FALSE(std::get<CommitRejected>(OfTransport(ErrorKind::kUnavailable)).may_have_passed) << "not sent";
}

TEST_F(CommitTest, TooManyRequestsIsNotAppliedAndTriedAgain) {
  for (const auto& result : {OfError(429, "X"), Of(429, "slow down", "text/plain")}) {
    ASSERT_TRUE(std::holds_alternative<CommitRejected>(result));
    EXPECT_EQ(std::get<CommitRejected>(result).error.retry(), RetryHint::kYes);
  }
}

TEST_F(CommitTest, PageInThePlaceOfTheCatalogIsTriedAgain) {
  auto result = Of(404, "<html>not here</html>", "text/html");
  ASSERT_TRUE(std::holds_alternative<CommitRejected>(result));
  EXPECT_EQ(std::get<CommitRejected>(result).error.retry(), RetryHint::kYes);
}

TEST_F(CommitTest, WhatWasNotSentIsNotAppliedAndWhatMayHaveArrivedIsUnknown) {
  auto not_sent = OfTransport(ErrorKind::kUnavailable);
  ASSERT_TRUE(std::holds_alternative<CommitRejected>(not_sent));
  EXPECT_EQ(std::get<CommitRejected>(not_sent).error.retry(), RetryHint::kYes);
  EXPECT_TRUE(std::holds_alternative<CommitRejected>(OfTransport(ErrorKind::kPermissionDenied)));
  for (const ErrorKind kind :
       {ErrorKind::kTimeout, ErrorKind::kIo, ErrorKind::kResourceExhausted, ErrorKind::kInternal})
    EXPECT_TRUE(std::holds_alternative<CommitUnknown>(OfTransport(kind))) << ToString(kind);
}

}  // namespace
}  // namespace firn::catalog::rest
