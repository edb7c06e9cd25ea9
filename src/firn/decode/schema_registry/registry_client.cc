#include "firn/decode/schema_registry/registry_client.h"

#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/bytes.h"
#include "firn/base/url.h"

namespace firn::decode {

namespace {

using Json = nlohmann::json;

constexpr int64_t kConnectTimeoutMs = 3'000;
constexpr int64_t kTimeoutMs = 10'000;
constexpr size_t kExcerptBytes = 80;
constexpr std::string_view kAccept = "application/vnd.schemaregistry.v1+json, application/json";
constexpr int kSubjectNotFound = 40401;
constexpr int kSchemaNotFound = 40403;

std::string Authorization(const RegistryAuth& auth) {
  if (auth.token) return "Bearer " + auth.token->Reveal();
  if (auth.username) return "Basic " + Base64Encode(*auth.username + ":" + auth.password->Reveal());
  return {};
}

/// The registry's own code and words, where the answer is its error object.
std::optional<std::pair<int, std::string>> ErrorObject(const Json& body) {
  if (!body.is_object() || !body.contains("error_code") || !body["error_code"].is_number_integer())
    return std::nullopt;
  const auto message = body.find("message");
  return std::pair(body["error_code"].get<int>(), message != body.end() && message->is_string()
                                                      ? message->get<std::string>()
                                                      : std::string());
}

std::string Words(const http::HttpResponse& response, const Json& body) {
  if (const auto error = ErrorObject(body))
    return fmt::format("HTTP {}, error {}: {}", response.status, error->first, Excerpt(error->second));
  if (body.is_discarded())
    return fmt::format("HTTP {}, not JSON: {}", response.status, Excerpt(response.body, kExcerptBytes));
  return fmt::format("HTTP {}", response.status);
}

bool PassesOver(int status) { return status >= 500 || status == 429 || status == 408 || status / 100 == 3; }

Error Refused(const http::HttpResponse& response, const Json& body, std::string_view url) {
  std::string words = fmt::format("schema registry {}: {}", url, Words(response, body));
  if (response.status == 401 || response.status == 403) {
    return Error(ErrorKind::kPermissionDenied, std::move(words))
        .WithHttpStatus(response.status)
        .WithRemedy("Look at decode.schema_registry.auth.");
  }
  const auto error = ErrorObject(body);
  if (response.status == 404 && error && error->first >= kSubjectNotFound && error->first <= kSchemaNotFound)
    return Error(ErrorKind::kNotFound, std::move(words)).WithHttpStatus(response.status);
  // An answer that no registry gives comes from something on the way, and may be gone the next minute.
  if (!error || PassesOver(response.status))
    return Error(ErrorKind::kUnavailable, std::move(words)).WithHttpStatus(response.status);
  return Error(ErrorKind::kInvalidArgument, std::move(words)).WithHttpStatus(response.status);
}

Error Unusable(std::string what) { return {ErrorKind::kCorrupt, std::move(what)}; }

std::string VersionPath(const std::string& subject, std::string_view version) {
  return fmt::format("/subjects/{}/versions/{}", PercentEncode(subject), version);
}

}  // namespace

RegistryClient::RegistryClient(SchemaRegistryConfig config, std::unique_ptr<http::HttpClient> http)
    : config_(std::move(config)), http_(std::move(http)), authorization_(Authorization(config_.auth)) {}

Result<RegisteredSchema> RegistryClient::ById(int32_t id) {
  return Fetch(fmt::format("/schemas/ids/{}", id));
}

Result<RegisteredSchema> RegistryClient::Latest(const std::string& subject) {
  return Fetch(VersionPath(subject, "latest"));
}

Result<RegisteredSchema> RegistryClient::Fetch(const std::string& path) {
  FIRN_ASSIGN(const Json answer, Get(path));
  RegisteredSchema schema;
  if (!answer.is_object() || !answer.contains("schema") || !answer["schema"].is_string())
    return Unusable(fmt::format("the registry's answer to {} holds no schema", path));
  schema.text = answer["schema"].get<std::string>();
  if (const auto type = answer.find("schemaType"); type != answer.end() && type->is_string())
    schema.type = type->get<std::string>();
  Gathering all;
  all.seen.insert(path);
  all.bytes = schema.text.size();
  FIRN_TRY(GatherReferences(answer, 0, &all));
  schema.references = std::move(all.texts);
  return schema;
}

Status RegistryClient::GatherReferences(const Json& answer, int depth, Gathering* all) {
  const auto references = answer.find("references");
  if (references == answer.end() || !references->is_array()) return Ok();
  if (depth >= kMaxReferenceDepth) return Unusable("schemas refer to each other too deeply");
  for (const Json& reference : *references) {
    if (!reference.is_object() || !reference.contains("subject") || !reference["subject"].is_string() ||
        !reference.contains("version") || !reference["version"].is_number_integer())
      return Unusable("a reference without subject and version");
    const auto subject = reference["subject"].get<std::string>();
    const std::string path = VersionPath(subject, fmt::format("{}", reference["version"].get<int64_t>()));
    if (!all->seen.insert(path).second) continue;
    if (all->seen.size() > kMaxReferences) return Unusable("a schema with too many references");
    Result<Json> referred = Get(path);
    if (!referred.ok() && referred.error().kind() == ErrorKind::kNotFound)
      return Unusable("a schema is referred to that is not there: " + referred.error().message());
    if (!referred.ok()) return std::move(referred).error();
    if (!referred->is_object() || !referred->contains("schema") || !(*referred)["schema"].is_string())
      return Unusable(fmt::format("the registry's answer to {} holds no schema", path));
    FIRN_TRY(GatherReferences(*referred, depth + 1, all));
    all->texts.push_back((*referred)["schema"].get<std::string>());
    all->bytes += all->texts.back().size();
    if (all->bytes > kMaxSchemaBytes)
      return Unusable("a schema that is larger than 4 MiB with its references");
  }
  return Ok();
}

// "Not found" is believed only when every URL says so: a follower may lag behind.
Result<Json> RegistryClient::Get(const std::string& path) {
  std::optional<Error> not_found;
  std::optional<Error> trouble;
  const size_t first = preferred_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < config_.urls.size(); ++i) {
    const size_t at = (first + i) % config_.urls.size();
    Result<Json> answer = GetFrom(config_.urls[at], path);
    if (answer.ok()) {
      preferred_.store(at, std::memory_order_relaxed);
      return answer;
    }
    Error error = std::move(answer).error();
    if (error.kind() == ErrorKind::kNotFound) {
      not_found = std::move(error);
    } else if (error.retry() == RetryHint::kYes) {
      trouble = std::move(error);
    } else {
      return error;
    }
  }
  if (trouble) return *std::move(trouble);
  return *std::move(not_found);
}

Result<Json> RegistryClient::GetFrom(const std::string& url, const std::string& path) {
  http::HttpRequest request;
  request.url = url + path;
  request.headers.emplace_back("Accept", kAccept);
  if (!authorization_.empty()) request.headers.emplace_back("Authorization", authorization_);
  Result<http::HttpResponse> response = http_->Send(request);
  if (!response.ok()) {
    const Error& error = response.error();
    // The request changes nothing: whatever went wrong on the way, it can be sent again.
    const bool later = error.kind() == ErrorKind::kIo || error.retry() == RetryHint::kYes;
    return Error(error.kind() == ErrorKind::kIo ? ErrorKind::kUnavailable : error.kind(),
                 fmt::format("schema registry {}: {}", url, error.message()))
        .WithRetry(later ? RetryHint::kYes : RetryHint::kNo);
  }
  Json body = Json::parse(response->body, nullptr, /*allow_exceptions=*/false);
  if (response->status == 200 && !body.is_discarded()) return body;
  return Refused(*response, body, url);
}

std::unique_ptr<SchemaFetcher> MakeRegistryClient(const SchemaRegistryConfig& config) {
  http::HttpClientOptions options;
  options.connect_timeout_ms = kConnectTimeoutMs;
  options.timeout_ms = kTimeoutMs;
  options.max_body_bytes = static_cast<int64_t>(RegistryClient::kMaxSchemaBytes) * 2;
  options.ca_file = config.tls.ca.value_or("");
  return std::make_unique<RegistryClient>(config, http::MakeHttpClient(std::move(options)));
}

}  // namespace firn::decode
