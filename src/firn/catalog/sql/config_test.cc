#include "firn/catalog/sql/config.h"

#include <gtest/gtest.h>

#include "firn/config/load.h"

namespace firn::catalog::sql {
namespace {

TEST(SqliteUri, UnderstandsTheFormsOfOthers) {
  EXPECT_EQ(ParseSqliteUri("sqlite:lake/catalog.db").value(), "lake/catalog.db");
  EXPECT_EQ(ParseSqliteUri("sqlite:/srv/catalog.db").value(), "/srv/catalog.db");
  EXPECT_EQ(ParseSqliteUri("sqlite:///lake/catalog.db").value(), "lake/catalog.db");
  EXPECT_EQ(ParseSqliteUri("sqlite:////srv/catalog.db").value(), "/srv/catalog.db");
  EXPECT_EQ(ParseSqliteUri("jdbc:sqlite:lake/catalog.db").value(), "lake/catalog.db");
  EXPECT_EQ(ParseSqliteUri("jdbc:sqlite:/srv/catalog.db").value(), "/srv/catalog.db");
}

TEST(SqliteUri, RefusesWhatItCannotServe) {
  for (const char* uri : {"postgresql://h/db", "sqlite:", "sqlite://",
                          "sqlite:///:memory:", "sqlite::memory:", "sqlite://host/db", "sqlite:a.db?mode=ro",
                          "jdbc:sqlite:file:a.db", "", "lake/catalog.db"}) {
    auto path = ParseSqliteUri(uri);
    ASSERT_FALSE(path.ok()) << uri;
    EXPECT_FALSE(path.error().remedy().empty());
  }
}

TEST(SqlCatalogSchema, ReadsAndResolvesAgainstTheFilesFolder) {
  config::Problems problems;
  auto root = config::LoadText(
      "type: sql\nuri: sqlite:lake/catalog.db\nwarehouse: lake/warehouse\nbusy_timeout: 2s\n",
      "/etc/firn/firn.yaml", config::SystemEnvironment(), problems);
  ASSERT_TRUE(root.has_value()) << problems.ToString();
  SqlCatalogConfig config;
  ASSERT_TRUE(SqlCatalogSchema().Read(*root, problems, &config)) << problems.ToString();
  EXPECT_EQ(config.database_path, "/etc/firn/lake/catalog.db");
  EXPECT_EQ(config.warehouse, "/etc/firn/lake/warehouse");
  EXPECT_EQ(config.busy_timeout_ms, 2000);
  EXPECT_TRUE(config.name.empty());
}

TEST(SqlCatalogSchema, TellsAllThatIsWrong) {
  config::Problems problems;
  auto root = config::LoadText("type: sql\nuri: mysql://x\nwarehose: w\n", "firn.yaml",
                               config::SystemEnvironment(), problems);
  SqlCatalogConfig config;
  EXPECT_FALSE(SqlCatalogSchema().Read(*root, problems, &config));
  auto text = problems.ToString();
  EXPECT_NE(text.find("mysql://x"), std::string::npos) << text;
  EXPECT_NE(text.find("warehouse"), std::string::npos) << text;
}

}  // namespace
}  // namespace firn::catalog::sql
