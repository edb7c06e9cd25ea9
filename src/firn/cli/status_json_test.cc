#include "firn/cli/status_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace firn::cli {
namespace {

pipeline::PipelineStatus Degraded() {
  pipeline::PipelineStatus status;
  status.id = "flights";
  status.table = "lake.travel.flights";
  status.state = pipeline::PipelineState::kDegraded;
  status.reason = "broker down; retrying";
  status.rows_committed = 1234;
  status.lag_records = 5;
  status.lag[{"flights", 0}] = 5;
  status.lag_age_ms[{"flights", 0}] = 1500;
  return status;
}

TEST(StatusJson, UnknownNumbersAreNullAndKeysAreStable) {
  const nlohmann::json body = StatusToJson({Degraded()}, 1000, 2000);
  const nlohmann::json& pipeline = body.at("pipelines").at(0);
  EXPECT_EQ(pipeline.at("id"), "flights");
  EXPECT_EQ(pipeline.at("rows-committed"), 1234);
  EXPECT_TRUE(pipeline.at("freshness-ms").is_null());
  EXPECT_TRUE(pipeline.at("last-commit").is_null());
  EXPECT_EQ(pipeline.at("partitions").at(0).at("lag-records"), 5);
  EXPECT_EQ(pipeline.at("partitions").at(0).at("lag-ms"), 1500);
  EXPECT_TRUE(pipeline.at("valid-through").is_null());
  EXPECT_EQ(body.at("started"), "1970-01-01T00:00:01.000Z");
}

TEST(StatusJson, TextShowsWhyOneStandsStill) {
  const Result<std::string> text = StatusText(StatusToJson({Degraded()}, 1000, 2000), /*terminal=*/false);
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("flights\tDEGRADED\tlake.travel.flights\t1,234\t5\t?\t0\t-\t0\n"), std::string::npos)
      << *text;
  EXPECT_NE(text->find("flights: broker down; retrying\n"), std::string::npos);
}

TEST(StatusJson, OtherJsonIsRefusedNotCrashedOn) {
  EXPECT_FALSE(StatusText(nlohmann::json::array(), false).ok());
  EXPECT_FALSE(StatusText(nlohmann::json::object(), false).ok());
  EXPECT_TRUE(
      StatusText(nlohmann::json::parse(R"({"pipelines": [1, {"id": 5, "reason": {}}]})"), false).ok());
}

}  // namespace
}  // namespace firn::cli
