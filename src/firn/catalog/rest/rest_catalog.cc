#include "firn/catalog/rest/rest_catalog.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/url.h"
#include "firn/catalog/rest/commit_answer.h"
#include "firn/catalog/rest/error.h"
#include "firn/iceberg/model/json_access.h"
#include "firn/runtime/fault_point.h"

namespace firn::catalog::rest {

namespace {

using iceberg::LoadedTable;
using iceberg::Namespace;
using iceberg::TableIdentifier;
using nlohmann::json;

constexpr int64_t kExchangeMs = 60'000;
constexpr int64_t kMaxAnswerBytes = int64_t{512} << 20;
constexpr int32_t kRetries = 5;
constexpr int kMaxPages = 100'000;
constexpr const char* kIdempotencyKey = "Idempotency-Key";
constexpr const char* kNoUuid = "00000000-0000-0000-0000-000000000000";
constexpr const char* kNoLocation = "none:";

http::HttpClientOptions OptionsOf(const RestCatalogConfig& config) {
  http::HttpClientOptions options;
  options.connect_timeout_ms = config.connect_timeout_ms.value_or(options.connect_timeout_ms);
  options.timeout_ms = config.timeout_ms.value_or(kExchangeMs);
  options.max_body_bytes = kMaxAnswerBytes;
  options.ca_file = config.ca_file;
  return options;
}

runtime::RetryPolicy PolicyOf(const RestCatalogConfig& config) {
  runtime::RetryPolicy policy;
  policy.max_attempts = config.max_retries.value_or(kRetries) + 1;
  policy.initial_backoff_ms = 250;
  return policy;
}

/// What the authentication is made of: as long as it stays, so does a bought token.
bool SameAuth(const RestSettings& a, const RestSettings& b) {
  static constexpr std::array kKeys = {"credential", "token",    "oauth2-server-uri",
                                       "scope",      "audience", "resource"};
  return a.auth == b.auth && a.auth == AuthKind::kOAuth2 && a.uri == b.uri && a.headers == b.headers &&
         std::ranges::all_of(kKeys, [&](const char* key) { return a.Property(key) == b.Property(key); });
}

Status AfterStored() {
  FIRN_FAULT_POINT(commit_after_stored);
  return Ok();
}

Result<ConfigAnswer> AskConfig(Session& session, const RestSettings& settings) {
  const Call call{.url = ConfigUrl(settings.uri, settings.Property("warehouse"))};
  auto response = session.Send(call);
  if (!response.ok() && response.error().kind() == ErrorKind::kNotFound)
    return std::move(response).error().WithRemedy("Check warehouse: the server does not know it.");
  if (!response.ok()) return std::move(response).error();
  auto answer = ParseConfigAnswer(response->body);
  if (!answer.ok()) return ErrorOfBody(*response, call.Name(), answer.error());
  return answer;
}

Status CheckNamespace(const Namespace& ns) {
  const bool empty =
      ns.empty() || std::ranges::any_of(ns, [](const std::string& level) { return level.empty(); });
  if (empty) return Error(ErrorKind::kInvalidArgument, "a namespace needs a name");
  return Ok();
}

Status CheckIdentifier(const TableIdentifier& table) {
  if (table.name.empty()) return Error(ErrorKind::kInvalidArgument, "a table needs a name");
  return CheckNamespace(table.ns);
}

json IdentifierJson(const TableIdentifier& table) { return {{"namespace", table.ns}, {"name", table.name}}; }

/// The definition as the server will make it, so that what it would refuse is refused here, and ids are
/// sound.
Result<iceberg::TableMetadata> Wished(const iceberg::NewTable& definition, int64_t now_ms) {
  iceberg::NewTable complete = definition;
  complete.uuid = kNoUuid;
  if (complete.location.empty()) complete.location = kNoLocation;
  complete.keep_field_ids = false;
  FIRN_ASSIGN(iceberg::TableMetadata wished, iceberg::NewTableMetadata(complete, now_ms));
  if (definition.keep_field_ids && !wished.schema()->SameFields(*definition.schema)) {
    return Error(ErrorKind::kUnsupported,
                 "a REST catalog gives field ids itself, from 1 in the order of the columns");
  }
  return wished;
}

Result<std::string> CreateBody(const TableIdentifier& table, const iceberg::NewTable& definition,
                               const iceberg::TableMetadata& wished) {
  iceberg::Properties properties = wished.properties;
  properties["format-version"] = std::to_string(wished.format_version);
  json body = {{"name", table.name},
               {"schema", iceberg::ToJson(*wished.schema())},
               {"partition-spec", iceberg::ToJson(wished.spec())},
               {"write-order", iceberg::ToJson(wished.sort_order())},
               {"stage-create", false},
               {"properties", properties}};
  if (!definition.location.empty()) body["location"] = definition.location;
  return iceberg::DumpJson(body);
}

/// Whether a request that failed may have been carried out.
bool MayHaveHappened(const Error& error) {
  const int status = error.http_status();
  if (status == 0) return error.kind() == ErrorKind::kTimeout || error.kind() == ErrorKind::kIo;
  return status == 408 || status / 100 == 2 || (status >= 500 && status != 501 && status != 505);
}

}  // namespace

Result<std::unique_ptr<RestCatalog>> RestCatalog::Open(const RestCatalogConfig& config,
                                                       RestCatalogDeps deps) {
  FIRN_CHECK(deps.stores != nullptr && deps.clock != nullptr && deps.ids != nullptr,
             "a REST catalog has all its dependencies");
  const std::string context = fmt::format("catalog '{}'", config.name);
  auto http = http::MakeHttpClient(OptionsOf(config));
  const AuthDeps auth_deps{http.get(), deps.clock, deps.aws_credentials};
  const SessionDeps session_deps{http.get(), deps.clock, deps.ids};
  const iceberg::Properties own = PropertiesOf(config);
  FIRN_ASSIGN_CTX(const RestSettings first, MakeSettings(own, {}), context);
  FIRN_ASSIGN_CTX(std::shared_ptr<Auth> auth, MakeAuth(first, auth_deps), context);
  Session opening(first.headers, auth, PolicyOf(config), session_deps);
  FIRN_ASSIGN_CTX(const ConfigAnswer answer, AskConfig(opening, first), context);
  FIRN_ASSIGN_CTX(RestSettings settings, MakeSettings(own, answer), context);
  if (!SameAuth(first, settings)) {
    FIRN_ASSIGN_CTX(auth, MakeAuth(settings, auth_deps), context);
  }
  auto session = std::make_unique<Session>(settings.headers, std::move(auth), PolicyOf(config), session_deps);
  Routes routes(settings);
  auto client = std::make_shared<RestClient>(
      RestClient{std::move(settings), std::move(routes), std::move(http), std::move(session)});
  return std::unique_ptr<RestCatalog>(new RestCatalog(config.name, std::move(deps), std::move(client)));
}

RestCatalog::RestCatalog(std::string name, RestCatalogDeps deps, std::shared_ptr<RestClient> client)
    : name_(std::move(name)), deps_(std::move(deps)), client_(std::move(client)), stores_(deps_.stores) {}

Result<http::HttpResponse> RestCatalog::Ask(std::string_view method, const Route& route, Call call) {
  FIRN_TRY_CTX(client_->routes.Require(method, route), fmt::format("catalog '{}'", name_));
  call.method = method;
  if (call.url.empty()) call.url = route.url;
  if (call.repeat == Repeat::kChange)
    call.headers.emplace_back(kIdempotencyKey, deps_.ids->UuidV7(deps_.clock->NowMs()));
  return client_->session->Send(call);
}

template <typename T, typename Parse>
Result<std::vector<T>> RestCatalog::AllPages(const Route& route, const std::string& query, Parse parse) {
  std::vector<T> all;
  std::string token;
  for (int page = 0; page < kMaxPages; ++page) {
    std::string url = fmt::format("{}?{}pageToken={}", route.url, query, PercentEncode(token));
    if (client_->settings.page_size > 0) url += fmt::format("&pageSize={}", client_->settings.page_size);
    const Call call{.url = std::move(url)};
    FIRN_ASSIGN(const http::HttpResponse response, Ask("GET", route, call));
    auto items = parse(response.body);
    if (!items.ok()) return ErrorOfBody(response, call.Name(), items.error());
    for (T& item : items->items) all.push_back(std::move(item));
    if (items->next_token.empty()) return all;
    if (items->next_token == token) break;
    token = std::move(items->next_token);
  }
  return Error(ErrorKind::kCorrupt, fmt::format("GET {}: the pages of the listing do not end", route.url));
}

// --- tables

Result<LoadedTable> RestCatalog::Loaded(const TableIdentifier& table, const http::HttpResponse& response,
                                        std::string_view request) {
  auto answer = ParseTableAnswer(response.body);
  if (!answer.ok()) return ErrorOfBody(response, request, answer.error());
  LoadedTable loaded;
  loaded.identifier = table;
  FIRN_ASSIGN(loaded.store, stores_.For(client_, table, *answer));
  loaded.metadata_location = std::move(answer->metadata_location);
  loaded.metadata = std::move(answer->metadata);
  return loaded;
}

Result<LoadedTable> RestCatalog::LoadTable(const TableIdentifier& table) {
  FIRN_TRY(CheckIdentifier(table));
  const Route route = client_->routes.Table(table);
  const Call call{.url = route.url + "?snapshots=all", .headers = DelegationHeaders()};
  FIRN_ASSIGN(const http::HttpResponse response, Ask("GET", route, call));
  return Loaded(table, response, call.Name());
}

Result<LoadedTable> RestCatalog::CreateTable(const TableIdentifier& table,
                                             const iceberg::NewTable& definition) {
  FIRN_TRY(CheckIdentifier(table));
  const std::string context = "table " + table.ToString();
  FIRN_ASSIGN_CTX(const iceberg::TableMetadata wished, Wished(definition, deps_.clock->NowMs()), context);
  FIRN_ASSIGN_CTX(std::string body, CreateBody(table, definition, wished), context);
  const Route route = client_->routes.Tables(table.ns);
  Call call{
      .url = route.url, .body = std::move(body), .headers = DelegationHeaders(), .repeat = Repeat::kChange};
  auto response = Ask("POST", route, std::move(call));
  auto created = response.ok() ? Loaded(table, *response, "POST " + route.url)
                               : Result<LoadedTable>(std::move(response).error());
  if (created.ok() || !MayHaveHappened(created.error())) return created;
  return CreatedOrNot(table, wished, created.error());
}

Result<LoadedTable> RestCatalog::CreatedOrNot(const TableIdentifier& table,
                                              const iceberg::TableMetadata& wished, const Error& error) {
  auto loaded = LoadTable(table);
  if (loaded.ok() && loaded->metadata->schema()->SameFields(*wished.schema())) return loaded;
  return Error(ErrorKind::kUnknownOutcome,
               fmt::format("whether the table was created is not known: {}", error.ToString()))
      .WithDomain(error.domain())
      .WithContext("table " + table.ToString());
}

iceberg::CatalogCommitResult RestCatalog::CommitTable(const iceberg::TableCommit& commit) {
  const Route route = client_->routes.Table(commit.base.identifier);
  Status offered = client_->routes.Require("POST", route);
  if (!offered.ok()) return iceberg::CommitRejected{std::move(offered).error()};
  auto body = CommitBody(commit);
  if (!body.ok()) return iceberg::CommitRejected{std::move(body).error()};
  Call call{.method = "POST", .url = route.url, .body = *std::move(body), .repeat = Repeat::kCommit};
  if (!commit.idempotency_key.empty()) call.headers.emplace_back(kIdempotencyKey, commit.idempotency_key);
  auto answer = client_->session->Exchange(call);
  if (answer.ok() && answer->status == 200) {
    if (Status stored = AfterStored(); !stored.ok())
      answer = Error(ErrorKind::kIo, stored.error().ToString());  // as if the answer had been lost
  }
  return CommitResultOf(commit, std::move(answer), call.Name());
}

Status RestCatalog::DropTable(const TableIdentifier& table, bool purge) {
  FIRN_TRY(CheckIdentifier(table));
  const Route route = client_->routes.Table(table);
  FIRN_TRY(Ask("DELETE", route,
               {.url = fmt::format("{}?purgeRequested={}", route.url, purge), .repeat = Repeat::kChange}));
  return Ok();
}

Status RestCatalog::RenameTable(const TableIdentifier& from, const TableIdentifier& to) {
  FIRN_TRY(CheckIdentifier(from));
  FIRN_TRY(CheckIdentifier(to));
  FIRN_ASSIGN(std::string body,
              iceberg::DumpJson({{"source", IdentifierJson(from)}, {"destination", IdentifierJson(to)}}));
  FIRN_TRY(Ask("POST", client_->routes.Rename(), {.body = std::move(body), .repeat = Repeat::kChange}));
  return Ok();
}

Result<std::vector<TableIdentifier>> RestCatalog::ListTables(const Namespace& ns) {
  FIRN_TRY(CheckNamespace(ns));
  return AllPages<TableIdentifier>(client_->routes.Tables(ns), "", ParseTablesAnswer);
}

// --- namespaces

Result<std::vector<Namespace>> RestCatalog::ListNamespaces(const Namespace& parent) {
  const std::string query =
      parent.empty() ? std::string() : fmt::format("parent={}&", client_->routes.NamespaceQuery(parent));
  return AllPages<Namespace>(client_->routes.Namespaces(), query, ParseNamespacesAnswer);
}

Status RestCatalog::CreateNamespace(const Namespace& ns, const iceberg::Properties& properties) {
  FIRN_TRY(CheckNamespace(ns));
  FIRN_ASSIGN(std::string body, iceberg::DumpJson({{"namespace", ns}, {"properties", properties}}));
  FIRN_TRY(Ask("POST", client_->routes.Namespaces(), {.body = std::move(body), .repeat = Repeat::kChange}));
  return Ok();
}

Result<bool> RestCatalog::NamespaceExists(const Namespace& ns) {
  auto loaded = LoadNamespace(ns);
  if (loaded.ok()) return true;
  if (loaded.error().kind() == ErrorKind::kNotFound) return false;
  return std::move(loaded).error();
}

Result<iceberg::Properties> RestCatalog::LoadNamespace(const Namespace& ns) {
  FIRN_TRY(CheckNamespace(ns));
  const Route route = client_->routes.Namespace(ns);
  FIRN_ASSIGN(const http::HttpResponse response, Ask("GET", route, {}));
  auto properties = ParseNamespaceAnswer(response.body);
  if (!properties.ok()) return ErrorOfBody(response, "GET " + route.url, properties.error());
  return properties;
}

Status RestCatalog::UpdateNamespace(const Namespace& ns, const std::vector<std::string>& removals,
                                    const iceberg::Properties& updates) {
  FIRN_TRY(CheckNamespace(ns));
  FIRN_TRY(iceberg::CheckNamespaceUpdate(ns, removals, updates));
  FIRN_ASSIGN(std::string body, iceberg::DumpJson({{"removals", removals}, {"updates", updates}}));
  FIRN_TRY(Ask("POST", client_->routes.NamespaceProperties(ns),
               {.body = std::move(body), .repeat = Repeat::kChange}));
  return Ok();
}

Status RestCatalog::DropNamespace(const Namespace& ns) {
  FIRN_TRY(CheckNamespace(ns));
  FIRN_TRY(Ask("DELETE", client_->routes.Namespace(ns), {.repeat = Repeat::kChange}));
  return Ok();
}

}  // namespace firn::catalog::rest
