#include "firn/decode/schema_registry/registry_client.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace firn::decode {
namespace {

/// Answers by URL; what is not there cannot be reached.
class FakeHttp final : public http::HttpClient {
 public:
  struct Answer {
    int status = 200;
    std::string body;
  };
  explicit FakeHttp(std::map<std::string, Answer> answers, std::vector<http::HttpRequest>* seen = nullptr)
      : answers_(std::move(answers)), seen_(seen) {}

  Result<http::HttpResponse> Send(const http::HttpRequest& request) override {
    if (seen_ != nullptr) seen_->push_back(request);
    const auto answer = answers_.find(request.url);
    if (answer == answers_.end()) return Error(ErrorKind::kUnavailable, "connection refused");
    http::HttpResponse response;
    response.status = answer->second.status;
    response.body = answer->second.body;
    return response;
  }

 private:
  std::map<std::string, Answer> answers_;
  std::vector<http::HttpRequest>* seen_;
};

RegistryClient ClientOf(std::map<std::string, FakeHttp::Answer> answers, SchemaRegistryConfig config = {},
                        std::vector<http::HttpRequest>* seen = nullptr) {
  if (config.urls.empty()) config.urls = {"http://a"};
  return {std::move(config), std::make_unique<FakeHttp>(std::move(answers), seen)};
}

constexpr const char* kUnknown = R"({"error_code":40403,"message":"Schema 7 not found"})";

TEST(RegistryClient, GivesTheSchemaOfAnId) {
  auto client = ClientOf({{"http://a/schemas/ids/7", {200, R"({"schema":"\"int\""})"}},
                          {"http://a/schemas/ids/8", {200, R"({"schema":"{}","schemaType":"JSON"})"}}});
  const auto schema = client.ById(7);
  ASSERT_TRUE(schema.ok()) << schema.error().ToString();
  EXPECT_EQ(schema->text, "\"int\"");
  EXPECT_EQ(schema->type, "AVRO");
  EXPECT_EQ(client.ById(8)->type, "JSON");
}

TEST(RegistryClient, GathersReferencesEachAfterWhatItRefersTo) {
  auto client = ClientOf({
      {"http://a/schemas/ids/7",
       {200, R"({"schema":"top","references":[{"name":"x","subject":"a b","version":2},
                                              {"name":"y","subject":"deep","version":1}]})"}},
      {"http://a/subjects/a%20b/versions/2",
       {200, R"({"schema":"middle","references":[{"name":"y","subject":"deep","version":1}]})"}},
      {"http://a/subjects/deep/versions/1", {200, R"({"schema":"deepest"})"}},
  });
  const auto schema = client.ById(7);
  ASSERT_TRUE(schema.ok()) << schema.error().ToString();
  EXPECT_EQ(schema->references, (std::vector<std::string>{"deepest", "middle"}));
}

TEST(RegistryClient, ACircleOfReferencesEnds) {
  auto client = ClientOf({
      {"http://a/schemas/ids/7",
       {200, R"({"schema":"top","references":[{"name":"x","subject":"s","version":1}]})"}},
      {"http://a/subjects/s/versions/1",
       {200, R"({"schema":"again","references":[{"name":"x","subject":"s","version":1}]})"}},
  });
  ASSERT_TRUE(client.ById(7).ok());
}

TEST(RegistryClient, AMissingReferenceMakesTheSchemaUnusable) {
  auto client = ClientOf({
      {"http://a/schemas/ids/7",
       {200, R"({"schema":"top","references":[{"name":"x","subject":"s","version":1}]})"}},
      {"http://a/subjects/s/versions/1", {404, R"({"error_code":40401,"message":"Subject not found"})"}},
  });
  EXPECT_EQ(client.ById(7).error().kind(), ErrorKind::kCorrupt);
}

TEST(RegistryClient, TellsUnknownFromAwayFromRefused) {
  auto client = ClientOf({{"http://a/schemas/ids/1", {404, kUnknown}},
                          {"http://a/schemas/ids/2", {404, "<html>not here</html>"}},
                          {"http://a/schemas/ids/3", {200, "<html>log in</html>"}},
                          {"http://a/schemas/ids/4", {503, ""}},
                          {"http://a/schemas/ids/5", {401, R"({"error_code":401,"message":"Unauthorized"})"}},
                          {"http://a/schemas/ids/6", {200, "[1]"}}});
  EXPECT_EQ(client.ById(1).error().kind(), ErrorKind::kNotFound);
  for (const int id : {2, 3, 4, 99}) EXPECT_EQ(client.ById(id).error().retry(), RetryHint::kYes) << id;
  EXPECT_EQ(client.ById(5).error().kind(), ErrorKind::kPermissionDenied);
  EXPECT_EQ(client.ById(6).error().kind(), ErrorKind::kCorrupt);
  EXPECT_NE(client.ById(3).error().message().find("not JSON"), std::string::npos);
}

TEST(RegistryClient, AsksTheNextUrlAndBelievesNotFoundOnlyOfAll) {
  SchemaRegistryConfig config;
  config.urls = {"http://a", "http://b"};
  auto client = ClientOf({{"http://b/schemas/ids/1", {200, R"({"schema":"s"})"}},
                          {"http://b/schemas/ids/2", {404, kUnknown}},
                          {"http://a/schemas/ids/3", {404, kUnknown}},
                          {"http://b/schemas/ids/3", {404, kUnknown}},
                          {"http://a/schemas/ids/4", {404, kUnknown}},
                          {"http://b/schemas/ids/4", {200, R"({"schema":"new"})"}}},
                         config);
  EXPECT_TRUE(client.ById(1).ok());
  EXPECT_EQ(client.ById(2).error().retry(), RetryHint::kYes);  // the other one does not answer
  EXPECT_EQ(client.ById(3).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(client.ById(4)->text, "new");
}

TEST(RegistryClient, SendsCredentialsAndNeverShowsThem) {
  std::vector<http::HttpRequest> seen;
  SchemaRegistryConfig config;
  config.auth.username = "user";
  config.auth.password = config::Secret("hunter2");
  auto basic = ClientOf({{"http://a/schemas/ids/1", {403, "{}"}}}, config, &seen);
  const Error refused = basic.ById(1).error();
  EXPECT_EQ(seen.at(0).headers.at(1).second, "Basic dXNlcjpodW50ZXIy");
  EXPECT_EQ(refused.ToString().find("hunter2"), std::string::npos);
  EXPECT_EQ(refused.ToString().find("dXNlcj"), std::string::npos);
  config.auth = {};
  config.auth.token = config::Secret("abc");
  Ignore(ClientOf({}, config, &seen).ById(1));
  EXPECT_EQ(seen.at(1).headers.at(1).second, "Bearer abc");
}

TEST(RegistryClient, GivesTheNewestOfASubject) {
  auto client =
      ClientOf({{"http://a/subjects/flights-value/versions/latest", {200, R"({"id":3,"schema":"s"})"}}});
  EXPECT_EQ(client.Latest("flights-value")->text, "s");
}

}  // namespace
}  // namespace firn::decode
