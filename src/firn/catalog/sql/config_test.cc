#include "firn/catalog/sql/config.h"

#include <gtest/gtest.h>

#include "firn/config/load.h"

namespace firn::catalog::sql {
namespace {

TEST(SqlCatalogSchema, ReadsAndResolvesAgainstTheFilesFolder) {
  config::Problems problems;
  auto root = config::LoadText(
      "type: sql\nuri: sqlite:lake/catalog.db\nwarehouse: lake/warehouse\nbusy_timeout: 2s\n",
      "/etc/firn/firn.yaml", config::SystemEnvironment(), problems);
  ASSERT_TRUE(root.has_value()) << problems.ToString();
  SqlCatalogConfig config;
  ASSERT_TRUE(SqlCatalogSchema().Read(*root, problems, &config)) << problems.ToString();
  EXPECT_EQ(db::PlaceOf(config.database), "sqlite:/etc/firn/lake/catalog.db");
  EXPECT_EQ(config.warehouse, "/etc/firn/lake/warehouse");
  EXPECT_EQ(std::get<db::SqliteOptions>(DatabaseOf(config)).busy_timeout_ms, 2000);
  EXPECT_TRUE(config.name.empty());
}

TEST(SqlCatalogSchema, ReadsAPostgresUriWithAPasswordFromTheEnvironment) {
  config::Problems problems;
  auto environment = config::SystemEnvironment();
  environment.variable = [](const std::string&) { return std::optional<std::string>("hunter2"); };
  auto root = config::LoadText(
      "type: sql\nuri: postgresql://me:${DB_PASSWORD}@h/lake?sslmode=require\nwarehouse: s3://b/w\n"
      "busy_timeout: 2s\nstatement_timeout: 5s\n",
      "/etc/firn/firn.yaml", environment, problems);
  ASSERT_TRUE(root.has_value()) << problems.ToString();
  SqlCatalogConfig config;
  ASSERT_TRUE(SqlCatalogSchema().Read(*root, problems, &config)) << problems.ToString();
  const auto options = std::get<db::PostgresOptions>(DatabaseOf(config));
  EXPECT_EQ(options.parameters.at("password"), "hunter2");
  EXPECT_EQ(options.parameters.at("sslmode"), "require");
  EXPECT_EQ(options.lock_timeout_ms, 2000);
  EXPECT_EQ(options.statement_timeout_ms, 5000);
  EXPECT_EQ(db::PlaceOf(config.database), "postgresql://me@h/lake");
}

TEST(SqlCatalogSchema, TellsAllThatIsWrong) {
  config::Problems problems;
  auto root = config::LoadText("type: sql\nuri: mysql://me:hunter2@x\nwarehose: w\n", "firn.yaml",
                               config::SystemEnvironment(), problems);
  SqlCatalogConfig config;
  EXPECT_FALSE(SqlCatalogSchema().Read(*root, problems, &config));
  auto text = problems.ToString();
  EXPECT_NE(text.find("'mysql'"), std::string::npos) << text;
  EXPECT_EQ(text.find("hunter2"), std::string::npos) << text;
  EXPECT_NE(text.find("warehouse"), std::string::npos) << text;
}

}  // namespace
}  // namespace firn::catalog::sql
