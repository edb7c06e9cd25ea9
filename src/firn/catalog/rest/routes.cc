#include "firn/catalog/rest/routes.h"

#include <fmt/format.h>

#include "firn/base/url.h"

namespace firn::catalog::rest {

namespace {

constexpr std::string_view kNamespaces = "/v1/{prefix}/namespaces";
constexpr std::string_view kNamespace = "/v1/{prefix}/namespaces/{namespace}";
constexpr std::string_view kNamespaceProperties = "/v1/{prefix}/namespaces/{namespace}/properties";
constexpr std::string_view kTables = "/v1/{prefix}/namespaces/{namespace}/tables";
constexpr std::string_view kTable = "/v1/{prefix}/namespaces/{namespace}/tables/{table}";
constexpr std::string_view kCredentials = "/v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials";
constexpr std::string_view kRename = "/v1/{prefix}/tables/rename";

}  // namespace

Routes::Routes(const RestSettings& settings)
    : base_(settings.uri + "/v1" + (settings.prefix.empty() ? "" : "/" + settings.prefix)),
      separator_(settings.namespace_separator),
      endpoints_(settings.endpoints) {}

Route Routes::Make(std::string_view pattern, const std::string& path) const {
  return {base_ + path, pattern};
}

Route Routes::Namespaces() const { return Make(kNamespaces, "/namespaces"); }

Route Routes::Namespace(const iceberg::Namespace& ns) const {
  return Make(kNamespace, "/namespaces/" + EncodeNamespace(ns));
}

Route Routes::NamespaceProperties(const iceberg::Namespace& ns) const {
  return Make(kNamespaceProperties, "/namespaces/" + EncodeNamespace(ns) + "/properties");
}

Route Routes::Tables(const iceberg::Namespace& ns) const {
  return Make(kTables, "/namespaces/" + EncodeNamespace(ns) + "/tables");
}

Route Routes::Table(const iceberg::TableIdentifier& table) const {
  return Make(kTable, Tables(table.ns).url.substr(base_.size()) + "/" + PercentEncode(table.name));
}

Route Routes::Credentials(const iceberg::TableIdentifier& table) const {
  return Make(kCredentials, Table(table).url.substr(base_.size()) + "/credentials");
}

Route Routes::Rename() const { return Make(kRename, "/tables/rename"); }

bool Routes::Has(std::string_view method, const Route& route) const {
  if (endpoints_.empty()) return route.pattern != kCredentials;
  return endpoints_.contains(fmt::format("{} {}", method, route.pattern));
}

Status Routes::Require(std::string_view method, const Route& route) const {
  if (Has(method, route)) return Ok();
  return Error(ErrorKind::kUnsupported,
               fmt::format("the server does not offer the endpoint {} {}", method, route.pattern));
}

std::string Routes::EncodeNamespace(const iceberg::Namespace& ns) const {
  std::string path;
  for (const std::string& level : ns) path += (path.empty() ? "" : separator_) + PercentEncode(level);
  return path;
}

std::string Routes::NamespaceQuery(const iceberg::Namespace& ns) const {
  // The separator of a path is written encoded; as a query parameter it is encoded with the levels around it.
  const Result<std::string> separator = PercentDecode(separator_);
  std::string text;
  for (const std::string& level : ns)
    text += (text.empty() ? "" : (separator.ok() ? *separator : separator_)) + level;
  return PercentEncode(text);
}

std::string ConfigUrl(const std::string& uri, const std::string& warehouse) {
  return uri + "/v1/config" + (warehouse.empty() ? "" : "?warehouse=" + PercentEncode(warehouse));
}

std::string AbsoluteUrl(const std::string& uri, const std::string& url) {
  if (url.starts_with("http://") || url.starts_with("https://")) return url;
  return uri + (url.starts_with('/') ? "" : "/") + url;
}

}  // namespace firn::catalog::rest
