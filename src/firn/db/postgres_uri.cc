#include "firn/db/postgres_uri.h"

#include <libpq-fe.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "firn/base/text_distance.h"

namespace firn::db {

namespace {

constexpr std::string_view kForm =
    "Write postgresql://user@host:5432/database?sslmode=require; in a user name or password @ is %40, "
    ": is %3A and / is %2F.";

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};
using ConnectionOptions = std::unique_ptr<PQconninfoOption, FreeOptions>;

const std::set<std::string>& KnownParameters() {
  static const std::set<std::string> known = [] {
    std::set<std::string> keywords{"ssl", "currentSchema", "ApplicationName", "connectTimeout"};
    const ConnectionOptions defaults(PQconndefaults());
    for (const auto* option = defaults.get(); option != nullptr && option->keyword != nullptr; ++option)
      keywords.insert(option->keyword);
    return keywords;
  }();
  return known;
}

Error NoUri() {
  return Error(ErrorKind::kInvalidArgument, "the uri is not one of a PostgreSQL database")
      .WithRemedy(std::string(kForm));
}

/// What stands before the parameters has one `@` at most, and that before the first `/`. Otherwise a part of
/// an unescaped password would be taken for a host or a database, and be printed as one.
bool HasPlainUser(std::string_view rest) {
  if (!rest.starts_with("//")) return rest.find('@') == std::string_view::npos;
  rest.remove_prefix(2);
  const size_t at = rest.find('@');
  if (at == std::string_view::npos) return true;
  return at < rest.find('/') && rest.find('@', at + 1) == std::string_view::npos;
}

bool IsPort(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool ArePorts(std::string_view list) {
  while (!list.empty()) {
    const std::string_view port = list.substr(0, list.find(','));
    if (!port.empty() && !IsPort(port)) return false;
    list.remove_prefix(std::min(port.size() + 1, list.size()));
  }
  return true;
}

// A keyword is no secret, a value may be one; what is no word at all may be the rest of a password.
Status CheckParameter(const std::string& keyword) {
  const auto& known = KnownParameters();
  const bool is_word = std::all_of(keyword.begin(), keyword.end(),
                                   [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (!is_word) return NoUri();
  if (known.contains(keyword)) return Ok();
  const std::vector<std::string> names(known.begin(), known.end());
  const auto near = NearestName(keyword, names);
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("the uri has a parameter '{}', which PostgreSQL's client library does not know{}",
                           keyword, near ? fmt::format(" (did you mean '{}'?)", *near) : ""))
      .WithRemedy("Its connection parameters are in PostgreSQL's manual, chapter libpq.");
}

/// One `keyword=value` in libpq's words.
std::string InLibpqWords(const std::string& keyword, std::string_view value) {
  if (keyword == "currentSchema") return fmt::format("options=-csearch_path%3D{}", value);
  if (keyword == "ApplicationName") return fmt::format("application_name={}", value);
  if (keyword == "connectTimeout") return fmt::format("connect_timeout={}", value);
  // libpq knows ssl=true of JDBC itself, but not its other values.
  if (keyword == "ssl" && value != "true")
    return fmt::format("sslmode={}", value == "false" ? "disable" : value);
  return fmt::format("{}={}", keyword, value);
}

Result<std::string> TranslateQuery(std::string_view query) {
  std::string translated;
  std::set<std::string> seen;
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(one.size() + 1, query.size()));
    if (one.empty()) continue;
    const std::string keyword(one.substr(0, one.find('=')));
    FIRN_TRY(CheckParameter(keyword));
    if (!seen.insert(keyword).second || (seen.contains("options") && seen.contains("currentSchema"))) {
      return Error(ErrorKind::kInvalidArgument, fmt::format("the uri sets parameter '{}' twice", keyword))
          .WithRemedy("Keep one.");
    }
    translated += translated.empty() ? "?" : "&";
    translated += InLibpqWords(keyword, one.substr(std::min(keyword.size() + 1, one.size())));
  }
  return translated;
}

/// `host` and `port` as they stand in a URI.
std::string HostsText(const std::map<std::string, std::string>& parameters) {
  const auto find = [&](const char* keyword) {
    const auto it = parameters.find(keyword);
    return it == parameters.end() ? std::string_view() : std::string_view(it->second);
  };
  std::string_view hosts = find("host");
  if (hosts.empty()) hosts = find("hostaddr");
  std::string_view ports = find("port");
  std::string text;
  while (!hosts.empty()) {
    const std::string_view host = hosts.substr(0, hosts.find(','));
    hosts.remove_prefix(std::min(host.size() + 1, hosts.size()));
    const std::string_view port = ports.substr(0, ports.find(','));
    // One port serves all hosts.
    if (ports.find(',') != std::string_view::npos) ports.remove_prefix(port.size() + 1);
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ",", host, port.empty() ? "" : ":", port);
  }
  return text;
}

}  // namespace

Result<PostgresOptions> ParsePostgresUri(std::string_view after_scheme) {
  std::string_view rest = after_scheme;
  const std::string_view query = rest.substr(std::min(rest.find('?'), rest.size()));
  rest.remove_suffix(query.size());
  if (!HasPlainUser(rest)) return NoUri();
  std::string uri = "postgresql:";
  if (!rest.starts_with("//")) {  // JDBC's short forms: the server of this machine
    if (rest.starts_with('/')) rest.remove_prefix(1);
    uri += "///";
  }
  uri += rest;
  FIRN_ASSIGN(const std::string translated, TranslateQuery(query.empty() ? query : query.substr(1)));
  uri += translated;
  char* reason = nullptr;
  const ConnectionOptions parsed(PQconninfoParse(uri.c_str(), &reason));
  PQfreemem(reason);  // not shown: libpq quotes the URI in it, password and all
  if (parsed == nullptr) return NoUri();
  PostgresOptions options;
  for (const auto* option = parsed.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) options.parameters[option->keyword] = option->val;
  }
  if (options.parameters.contains("port") && !ArePorts(options.parameters.at("port"))) return NoUri();
  return options;
}

std::string PostgresPlace(const PostgresOptions& options) {
  const auto& parameters = options.parameters;
  const auto user = parameters.find("user");
  const auto name = parameters.find("dbname");
  std::string hosts = HostsText(parameters);
  const bool socket = hosts.starts_with('/');
  return fmt::format("postgresql://{}{}/{}{}", user == parameters.end() ? "" : user->second + "@",
                     socket ? "" : hosts, name == parameters.end() ? "" : name->second,
                     socket ? "?host=" + hosts : "");
}

}  // namespace firn::db
