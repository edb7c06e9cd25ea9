#include "firn/db/database.h"

#include <gtest/gtest.h>

namespace firn::db {
namespace {

std::string SqlitePath(std::string_view uri) {
  auto options = ParseDatabaseUri(uri);
  if (!options.ok()) return options.error().ToString();
  return std::get<SqliteOptions>(*options).path;
}

std::map<std::string, std::string> Parameters(std::string_view uri) {
  auto options = ParseDatabaseUri(uri);
  EXPECT_TRUE(options.ok()) << uri << ": " << options.error().ToString();
  return options.ok() ? std::get<PostgresOptions>(*options).parameters : std::map<std::string, std::string>{};
}

TEST(DatabaseUri, UnderstandsTheSqliteFormsOfOthers) {
  EXPECT_EQ(SqlitePath("sqlite:lake/catalog.db"), "lake/catalog.db");
  EXPECT_EQ(SqlitePath("sqlite:/srv/catalog.db"), "/srv/catalog.db");
  EXPECT_EQ(SqlitePath("sqlite:///lake/catalog.db"), "lake/catalog.db");
  EXPECT_EQ(SqlitePath("sqlite:////srv/catalog.db"), "/srv/catalog.db");
  EXPECT_EQ(SqlitePath("sqlite+pysqlite:////srv/catalog.db"), "/srv/catalog.db");
  EXPECT_EQ(SqlitePath("jdbc:sqlite:lake/catalog.db"), "lake/catalog.db");
  EXPECT_EQ(SqlitePath("jdbc:sqlite:/srv/catalog.db"), "/srv/catalog.db");
}

TEST(DatabaseUri, UnderstandsThePostgresFormsOfOthers) {
  const std::map<std::string, std::string> expected{
      {"user", "me"}, {"password", "a@b/c"}, {"host", "db.example"}, {"port", "5433"}, {"dbname", "lake"}};
  EXPECT_EQ(Parameters("postgresql://me:a%40b%2Fc@db.example:5433/lake"), expected);
  EXPECT_EQ(Parameters("postgres://me:a%40b%2Fc@db.example:5433/lake"), expected);
  EXPECT_EQ(Parameters("postgresql+psycopg2://me:a%40b%2Fc@db.example:5433/lake"), expected);
  EXPECT_EQ(Parameters("jdbc:postgresql://db.example:5433/lake?user=me&password=a%40b%2Fc"), expected);
}

TEST(DatabaseUri, JdbcFormsWithoutAHostMeanThisMachine) {
  EXPECT_EQ(Parameters("jdbc:postgresql:lake").at("dbname"), "lake");
  EXPECT_EQ(Parameters("jdbc:postgresql:/lake").at("dbname"), "lake");
  EXPECT_EQ(Parameters("jdbc:postgresql:lake").count("host"), 0U);
}

TEST(DatabaseUri, ParametersOfLibpqAndJdbcReachLibpq) {
  auto parameters = Parameters(
      "postgresql://h/db?sslmode=verify-full&sslrootcert=/etc/ca.pem&connect_timeout=3&target_session_attrs="
      "read-write");
  EXPECT_EQ(parameters.at("sslmode"), "verify-full");
  EXPECT_EQ(parameters.at("sslrootcert"), "/etc/ca.pem");
  EXPECT_EQ(parameters.at("connect_timeout"), "3");
  parameters =
      Parameters("jdbc:postgresql://h/db?ssl=true&currentSchema=lake&ApplicationName=x&connectTimeout=4");
  EXPECT_EQ(parameters.at("sslmode"), "require");
  EXPECT_EQ(parameters.at("options"), "-csearch_path=lake");
  EXPECT_EQ(parameters.at("application_name"), "x");
  EXPECT_EQ(parameters.at("connect_timeout"), "4");
  EXPECT_EQ(Parameters("jdbc:postgresql://h/db?ssl=false").at("sslmode"), "disable");
}

TEST(DatabaseUri, RefusesWhatItCannotServe) {
  for (const char* uri :
       {"mysql://h/db", "sqlite:", "sqlite://", "sqlite:///:memory:", "sqlite::memory:", "sqlite://host/db",
        "sqlite:a.db?mode=ro", "jdbc:sqlite:file:a.db", "", "lake/catalog.db", "postgresql://h:port:no/db",
        "postgresql://[::1/db", "postgresql://h/db?socketTimeout=5", "postgresql://h/db?sslmode=a&sslmode=b",
        "postgresql://h/db?options=-cx%3D1&currentSchema=y"}) {
    auto options = ParseDatabaseUri(uri);
    ASSERT_FALSE(options.ok()) << uri;
    EXPECT_FALSE(options.error().remedy().empty()) << uri;
  }
}

TEST(DatabaseUri, UnknownParameterIsNamedWithTheNearest) {
  auto options = ParseDatabaseUri("postgresql://h/db?sslmod=require");
  ASSERT_FALSE(options.ok());
  EXPECT_NE(options.error().message().find("'sslmod'"), std::string::npos);
  EXPECT_NE(options.error().message().find("'sslmode'"), std::string::npos);
}

TEST(DatabaseUri, SecretsAreInNoErrorAndNoPlace) {
  for (const char* uri :
       {"postgresql://me:hunter2@[::1/db", "mysql://me:hunter2@h/db", "postgresql://me:hunter2@h:no:port/db",
        "postgresql://me:1@hunter2@h/db", "postgresql://me:1/hunter2@h/db", "postgresql://me:1?hunter2@h/db",
        "jdbc:postgresql://h/db?password=hunter2&x=1"}) {
    auto options = ParseDatabaseUri(uri);
    ASSERT_FALSE(options.ok()) << uri;
    EXPECT_EQ(options.error().ToString().find("hunter2"), std::string::npos) << options.error().ToString();
  }
  auto options = ParseDatabaseUri("postgresql://me:hunter2@a:1,b:2/db?sslpassword=hunter2").value();
  EXPECT_EQ(PlaceOf(options), "postgresql://me@a:1,b:2/db");
  EXPECT_EQ(PlaceOf(ParseDatabaseUri("postgresql:///db?host=/run/pg").value()),
            "postgresql:///db?host=/run/pg");
  EXPECT_EQ(PlaceOf(ParseDatabaseUri("sqlite:/srv/c.db").value()), "sqlite:/srv/c.db");
}

}  // namespace
}  // namespace firn::db
