#include "firn/catalog/rest/rest_catalog.h"

#include <gtest/gtest.h>

#include <deque>
#include <nlohmann/json.hpp>

#include "firn/iceberg/model/update_json.h"
#include "firn/runtime/manual_clock.h"
#include "firn/runtime/seeded_ids.h"
#include "firn/store/memory/memory_store.h"
#include "support/scripted_http_server.h"

namespace firn::catalog::rest {
namespace {

using nlohmann::json;
using test::HttpAsked;
using test::ScriptedHttpServer;

const iceberg::TableIdentifier kTable{{"ns"}, "t"};

/// Keeps how it was asked; every location is served by one store.
class RecordingResolver final : public store::StoreResolver {
 public:
  Result<std::shared_ptr<store::Store>> Resolve(std::string_view location,
                                                const store::StoreAccess& access) override {
    locations.emplace_back(location);
    accesses.push_back(access);
    return std::shared_ptr<store::Store>(std::make_shared<store::MemoryStore>());
  }
  std::vector<std::string> locations;
  std::vector<store::StoreAccess> accesses;
};

iceberg::NewTable Definition() {
  iceberg::NewTable table;
  table.uuid = "6f0c9c1e-0000-4000-8000-000000000001";
  table.location = "s3://b/ns/t";
  table.schema = std::make_shared<iceberg::Schema>(
      0, std::vector<iceberg::NestedField>{
             {.id = 1, .name = "a", .type = iceberg::Type::Primitive(iceberg::TypeId::kLong)}});
  return table;
}

json TableBody(json more = json::object()) {
  json body = {{"metadata-location", "s3://b/ns/t/metadata/0.json"},
               {"metadata", iceberg::ToJson(iceberg::NewTableMetadata(Definition(), 1000).value())}};
  body.update(more);
  return body;
}

std::string ErrorBody(std::string_view type) {
  return R"({"error":{"message":"words","type":")" + std::string(type) + R"("}})";
}

class RestCatalogTest : public ::testing::Test {
 protected:
  RestCatalogTest() { config_.name = "lake", config_.uri = server_.Url(); }

  std::unique_ptr<RestCatalog> Open() {
    auto catalog = RestCatalog::Open(config_, {.stores = stores_, .clock = &clock_, .ids = &ids_});
    EXPECT_TRUE(catalog.ok()) << catalog.error().ToString();
    return catalog.ok() ? *std::move(catalog) : nullptr;
  }

  ScriptedHttpServer::Answer OnAsk(const HttpAsked& asked) {
    if (asked.target.starts_with("/v1/config")) return ScriptedHttpServer::Json(200, configuration_);
    if (asked.target == "/v1/oauth/tokens")
      return ScriptedHttpServer::Json(200, R"({"access_token":"t)" + std::to_string(++tokens_) + R"("})");
    if (answers_.empty()) return ScriptedHttpServer::Json(500, ErrorBody("NoScript"));
    ScriptedHttpServer::Answer answer = std::move(answers_.front());
    answers_.pop_front();
    return answer;
  }
  void Next(int status, std::string_view body,
            std::vector<std::pair<std::string, std::string>> headers = {}) {
    answers_.emplace_back(ScriptedHttpServer::Json(status, body, headers));
  }
  /// Requests but those for configuration and tokens.
  std::vector<HttpAsked> Asked() const {
    std::vector<HttpAsked> asked = server_.asked();
    std::erase_if(asked, [](const HttpAsked& a) {
      return a.target.starts_with("/v1/config") || a.target == "/v1/oauth/tokens";
    });
    return asked;
  }
  iceberg::TableCommit Commit(const iceberg::LoadedTable& base) {
    return {base, {}, {iceberg::update::SetProperties{{{"a", "1"}}}}, "0190a0b0-0000-7000-8000-000000000001"};
  }

  std::string configuration_ = R"({"defaults":{},"overrides":{}})";
  std::deque<ScriptedHttpServer::Answer> answers_;
  int tokens_ = 0;
  runtime::ManualClock clock_;
  runtime::SeededIds ids_{7};
  std::shared_ptr<RecordingResolver> stores_ = std::make_shared<RecordingResolver>();
  RestCatalogConfig config_;
  ScriptedHttpServer server_{[this](const HttpAsked& asked) { return OnAsk(asked); }};
};

TEST_F(RestCatalogTest, OpeningAsksForTheConfigurationOfTheWarehouse) {
  config_.warehouse = "my lake";
  configuration_ = R"({"defaults":{},"overrides":{"prefix":"p1","header.X-Seen":"yes"}})";
  const auto catalog = Open();
  EXPECT_EQ(server_.asked().front().target, "/v1/config?warehouse=my%20lake");
  Next(200, R"({"namespaces":[["a"]]})");
  ASSERT_TRUE(catalog->ListNamespaces({}).ok());
  EXPECT_EQ(Asked().back().target, "/v1/p1/namespaces?pageToken=");
  EXPECT_EQ(Asked().back().headers.at("x-seen"), "yes");
}

TEST_F(RestCatalogTest, UnknownWarehouseIsSaid) {
  ScriptedHttpServer server(
      [](const HttpAsked&) { return ScriptedHttpServer::Json(404, ErrorBody("NoSuchWarehouseException")); });
  config_.uri = server.Url();
  auto catalog = RestCatalog::Open(config_, {.stores = stores_, .clock = &clock_, .ids = &ids_});
  ASSERT_FALSE(catalog.ok());
  EXPECT_NE(catalog.error().ToString().find("Check warehouse"), std::string::npos)
      << catalog.error().ToString();
}

TEST_F(RestCatalogTest, ListingsTakeAllPages) {
  config_.page_size = 2;
  const auto catalog = Open();
  Next(200, R"({"identifiers":[{"namespace":["ns"],"name":"a"}],"next-page-token":"p 2"})");
  Next(200, R"({"identifiers":[{"namespace":["ns"],"name":"b"}],"next-page-token":null})");
  auto tables = catalog->ListTables({"ns"});
  ASSERT_TRUE(tables.ok());
  EXPECT_EQ(*tables, (std::vector<iceberg::TableIdentifier>{{{"ns"}, "a"}, {{"ns"}, "b"}}));
  EXPECT_EQ(Asked()[1].target, "/v1/namespaces/ns/tables?pageToken=p%202&pageSize=2");
}

TEST_F(RestCatalogTest, ListingWhosePagesRepeatIsAnError) {
  const auto catalog = Open();
  for (int i = 0; i < 2; ++i) Next(200, R"({"namespaces":[],"next-page-token":"again"})");
  EXPECT_EQ(catalog->ListNamespaces({"a", "b"}).error().kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(Asked()[0].target, "/v1/namespaces?parent=a%1Fb&pageToken=");
}

TEST_F(RestCatalogTest, NamespaceThatIsNotThereIsToldFromAnAnswerOfSomethingElse) {
  config_.max_retries = 0;
  const auto catalog = Open();
  Next(200, R"({"namespace":["a"],"properties":{"k":"v"}})");
  EXPECT_TRUE(catalog->NamespaceExists({"a"}).value());
  Next(404, ErrorBody("NoSuchNamespaceException"));
  EXPECT_FALSE(catalog->NamespaceExists({"a"}).value());
  answers_.emplace_back(ScriptedHttpServer::Text(404, "text/html", "<html>"));
  EXPECT_EQ(catalog->NamespaceExists({"a"}).error().kind(), ErrorKind::kUnavailable);
}

TEST_F(RestCatalogTest, NamespacesAndTablesAreChanged) {
  const auto catalog = Open();
  Next(200, R"({"namespace":["a"],"properties":{}})");
  ASSERT_TRUE(catalog->CreateNamespace({"a", "b"}, {{"k", "v"}}).ok());
  EXPECT_EQ(json::parse(Asked().back().body),
            json::parse(R"({"namespace":["a","b"],"properties":{"k":"v"}})"));
  EXPECT_EQ(Asked().back().headers.at("idempotency-key").size(), 36U);
  Next(200, "{}");
  ASSERT_TRUE(catalog->UpdateNamespace({"a"}, {"x"}, {{"k", "w"}}).ok());
  EXPECT_EQ(json::parse(Asked().back().body), json::parse(R"({"removals":["x"],"updates":{"k":"w"}})"));
  Next(204, "");
  ASSERT_TRUE(catalog->DropNamespace({"a"}).ok());
  Next(409, ErrorBody("NamespaceNotEmptyException"));
  EXPECT_EQ(catalog->DropNamespace({"a"}).error().kind(), ErrorKind::kInvalidArgument);
  Next(204, "");
  ASSERT_TRUE(catalog->DropTable(kTable, true).ok());
  EXPECT_EQ(Asked().back().method, "DELETE");
  EXPECT_EQ(Asked().back().target, "/v1/namespaces/ns/tables/t?purgeRequested=true");
  Next(204, "");
  ASSERT_TRUE(catalog->RenameTable(kTable, {{"other"}, "u"}).ok());
  EXPECT_EQ(
      json::parse(Asked().back().body),
      json::parse(
          R"({"source":{"namespace":["ns"],"name":"t"},"destination":{"namespace":["other"],"name":"u"}})"));
}

TEST_F(RestCatalogTest, LoadAsksForAllSnapshotsAndCredentials) {
  const auto catalog = Open();
  Next(200, TableBody().dump());
  auto table = catalog->LoadTable(kTable);
  ASSERT_TRUE(table.ok()) << table.error().ToString();
  EXPECT_EQ(table->metadata_location, "s3://b/ns/t/metadata/0.json");
  EXPECT_EQ(Asked().back().target, "/v1/namespaces/ns/tables/t?snapshots=all");
  EXPECT_TRUE(Asked().back().headers.at("x-iceberg-access-delegation").starts_with("vended-credentials"));
  EXPECT_EQ(stores_->locations, std::vector<std::string>{"s3://b/ns/t"});
  Next(404, ErrorBody("NoSuchTableException"));
  EXPECT_EQ(catalog->LoadTable(kTable).error().kind(), ErrorKind::kNotFound);
}

TEST_F(RestCatalogTest, CredentialsOfTheLongestPrefixWinAndAreRenewedByTheirResource) {
  configuration_ = R"({"defaults":{},"overrides":{},"endpoints":[
      "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
      "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials"]})";
  config_.s3 = {{"region", "r"}, {"access-key-id", "own"}};
  const auto catalog = Open();
  Next(200, TableBody({{"config", {{"s3.access-key-id", "config"}, {"s3.endpoint", "http://s3"}}},
                       {"storage-credentials",
                        {{{"prefix", "s3://b/"}, {"config", {{"s3.access-key-id", "vended"}}}},
                         {{"prefix", "s3://b/x"}, {"config", {{"s3.access-key-id", "other"}}}}}}})
                .dump());
  ASSERT_TRUE(catalog->LoadTable(kTable).ok());
  const store::StoreAccess& access = stores_->accesses.back();
  EXPECT_EQ(access.properties.at("s3.access-key-id"), "vended");
  EXPECT_EQ(access.properties.at("s3.endpoint"), "http://s3");
  EXPECT_EQ(access.properties.at("s3.region"), "r");
  ASSERT_TRUE(access.renew);
  Next(200, R"({"storage-credentials":[{"prefix":"s3","config":{"s3.access-key-id":"fresh"}}]})");
  auto fresh = access.renew();
  ASSERT_TRUE(fresh.ok()) << fresh.error().ToString();
  EXPECT_EQ(fresh->at("s3.access-key-id"), "fresh");
  EXPECT_EQ(fresh->at("s3.endpoint"), "http://s3");
  EXPECT_EQ(Asked().back().target, "/v1/namespaces/ns/tables/t/credentials");
}

TEST_F(RestCatalogTest, CredentialsAreRenewedByANewLoadWhereThereIsNoResource) {
  const auto catalog = Open();
  Next(200, TableBody({{"config", {{"s3.access-key-id", "first"}}}}).dump());
  ASSERT_TRUE(catalog->LoadTable(kTable).ok());
  Next(200, TableBody({{"config", {{"s3.access-key-id", "second"}}}}).dump());
  EXPECT_EQ(stores_->accesses.back().renew().value().at("s3.access-key-id"), "second");
}

TEST_F(RestCatalogTest, StoreIsKeptWhereItRenewsItsCredentials) {
  const auto catalog = Open();
  const auto load = [&](const json& config) {
    Next(200, TableBody({{"config", config}}).dump());
    return catalog->LoadTable(kTable).value().store;
  };
  const json ending = {{"s3.access-key-id", "1"}, {"s3.session-token-expires-at-ms", "1700000600000"}};
  const json ending_later = {{"s3.access-key-id", "2"}, {"s3.session-token-expires-at-ms", "1700000900000"}};
  const auto first = load(ending);
  EXPECT_EQ(load(ending_later), first);
  EXPECT_NE(load({{"s3.access-key-id", "3"}}), first);  // no end known: what was just given is used
}

TEST_F(RestCatalogTest, RemoteSigningHandsOutTheCatalogsHeaders) {
  config_.token = config::Secret("mine");
  const auto catalog = Open();
  Next(200, TableBody({{"config", {{"s3.remote-signing-enabled", "true"}}},
                       {"remote-signing-config", {{"headers", {{"X-Sign", {"a", "b"}}}}}}})
                .dump());
  ASSERT_TRUE(catalog->LoadTable(kTable).ok());
  const store::StoreAccess& access = stores_->accesses.back();
  EXPECT_EQ(access.properties.at("s3.signer.endpoint"), server_.Url("/v1/namespaces/ns/tables/t/sign"));
  auto headers = access.signer_headers();
  ASSERT_TRUE(headers.ok());
  EXPECT_EQ(headers->at("Authorization"), "Bearer mine");
  EXPECT_EQ(headers->at("X-Sign"), "a, b");
}

TEST_F(RestCatalogTest, CreateSendsFreshIdsAndFormatVersion) {
  const auto catalog = Open();
  Next(200, TableBody().dump());
  iceberg::NewTable definition = Definition();
  definition.location.clear();
  definition.format_version = 3;
  ASSERT_TRUE(catalog->CreateTable(kTable, definition).ok());
  const json body = json::parse(Asked().back().body);
  EXPECT_EQ(body["name"], "t");
  EXPECT_EQ(body["schema"]["fields"][0]["id"], 1);
  EXPECT_EQ(body["properties"]["format-version"], "3");
  EXPECT_EQ(body["properties"]["write.parquet.compression-codec"], "zstd");
  EXPECT_FALSE(body.contains("location"));
  Next(409, ErrorBody("AlreadyExistsException"));
  EXPECT_EQ(catalog->CreateTable(kTable, definition).error().kind(), ErrorKind::kAlreadyExists);
}

TEST_F(RestCatalogTest, CreateWhoseAnswerIsLostLooksWhetherTheTableIsThere) {
  const auto catalog = Open();
  answers_.emplace_back("");
  Next(200, TableBody().dump());
  EXPECT_TRUE(catalog->CreateTable(kTable, Definition()).ok());
  Next(502, ErrorBody("BadGateway"));
  Next(404, ErrorBody("NoSuchTableException"));
  EXPECT_EQ(catalog->CreateTable(kTable, Definition()).error().kind(), ErrorKind::kUnknownOutcome);
}

TEST_F(RestCatalogTest, ReadsAreRepeatedAndWaitAsLongAsTheServerAsks) {
  const auto catalog = Open();
  Next(503, ErrorBody("ServiceUnavailableException"), {{"Retry-After", "20"}});
  Next(429, "slow down", {{"Retry-After", "5"}});
  answers_.emplace_back("");
  answers_.emplace_back(ScriptedHttpServer::Text(502, "text/html", "<html>bad gateway</html>"));
  Next(200, TableBody().dump());
  ASSERT_TRUE(catalog->LoadTable(kTable).ok());
  EXPECT_EQ(Asked().size(), 5U);
  EXPECT_GE(clock_.elapsed_ms(), 25'000);
}

TEST_F(RestCatalogTest, ReadsThatCannotSucceedAreNotRepeated) {
  const auto catalog = Open();
  Next(403, ErrorBody("ForbiddenException"));
  EXPECT_EQ(catalog->LoadTable(kTable).error().kind(), ErrorKind::kPermissionDenied);
  EXPECT_EQ(Asked().size(), 1U);
}

TEST_F(RestCatalogTest, ChangesAreRepeatedOnlyWhereTheyWereNotCarriedOut) {
  const auto catalog = Open();
  Next(429, "slow down");
  Next(204, "");
  EXPECT_TRUE(catalog->DropTable(kTable, false).ok());
  EXPECT_EQ(Asked()[0].headers.at("idempotency-key"), Asked()[1].headers.at("idempotency-key"));
  Next(500, ErrorBody("X"));
  EXPECT_FALSE(catalog->DropTable(kTable, false).ok());
  EXPECT_EQ(Asked().size(), 3U);
}

TEST_F(RestCatalogTest, RefusedTokenIsRenewedOnceForReadsAndCommits) {
  config_.credential = config::Secret("me:pass");
  const auto catalog = Open();
  Next(401, ErrorBody("NotAuthorizedException"));
  Next(200, TableBody().dump());
  auto table = catalog->LoadTable(kTable);
  ASSERT_TRUE(table.ok()) << table.error().ToString();
  EXPECT_EQ(Asked()[0].headers.at("authorization"), "Bearer t1");
  EXPECT_EQ(Asked()[1].headers.at("authorization"), "Bearer t2");
  Next(401, ErrorBody("NotAuthorizedException"));
  json changed = TableBody();
  changed["metadata"]["properties"]["a"] = "1";
  Next(200, changed.dump());
  EXPECT_TRUE(std::holds_alternative<iceberg::CommitDone>(catalog->CommitTable(Commit(*table))));
  EXPECT_EQ(Asked()[3].headers.at("authorization"), "Bearer t3");
  EXPECT_EQ(Asked()[2].headers.at("idempotency-key"), Asked()[3].headers.at("idempotency-key"));
}

TEST_F(RestCatalogTest, CommitIsSentOnceWhateverComesBack) {
  const auto catalog = Open();
  Next(200, TableBody().dump());
  auto table = catalog->LoadTable(kTable);
  ASSERT_TRUE(table.ok());
  answers_.emplace_back("");  // the connection dies without an answer
  EXPECT_TRUE(std::holds_alternative<iceberg::CommitUnknown>(catalog->CommitTable(Commit(*table))));
  Next(503, ErrorBody("ServiceUnavailableException"), {{"Retry-After", "1"}});
  EXPECT_TRUE(std::holds_alternative<iceberg::CommitUnknown>(catalog->CommitTable(Commit(*table))));
  EXPECT_EQ(Asked().size(), 3U);
  EXPECT_EQ(Asked().back().headers.at("idempotency-key"), "0190a0b0-0000-7000-8000-000000000001");
}

TEST_F(RestCatalogTest, CommitToNobodyIsNotSent) {
  auto gone = std::make_unique<ScriptedHttpServer>([this](const HttpAsked& asked) { return OnAsk(asked); });
  config_.uri = gone->Url();
  const auto catalog = Open();
  Next(200, TableBody().dump());
  auto table = catalog->LoadTable(kTable);
  ASSERT_TRUE(table.ok());
  gone.reset();
  auto result = catalog->CommitTable(Commit(*table));
  ASSERT_TRUE(std::holds_alternative<iceberg::CommitRejected>(result));
  EXPECT_EQ(std::get<iceberg::CommitRejected>(result).error.retry(), RetryHint::kYes);
}

TEST_F(RestCatalogTest, RequestsAreSignedWhereAwsAsksForIt) {
  config_.sigv4_enabled = true;
  config_.signing_name = "glue";
  config_.signing_region = "eu-central-1";
  config_.access_key_id = config::Secret("AKIDEXAMPLE");
  config_.secret_access_key = config::Secret("secret");
  const auto catalog = Open();
  Next(200, R"({"namespaces":[]})");
  ASSERT_TRUE(catalog->ListNamespaces({}).ok());
  const std::string authorization = Asked().back().headers.at("authorization");
  EXPECT_TRUE(authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")) << authorization;
  EXPECT_NE(authorization.find("/eu-central-1/glue/aws4_request"), std::string::npos) << authorization;
}

}  // namespace
}  // namespace firn::catalog::rest
