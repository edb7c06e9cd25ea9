#pragma once

#include <set>
#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/catalog/rest/settings.h"
#include "firn/iceberg/catalog.h"

namespace firn::catalog::rest {

/// One resource: its address, and the template by which the server lists what it can do.
struct Route {
  std::string url;
  std::string_view pattern;  ///< `/v1/{prefix}/namespaces/{namespace}`
};

/// Addresses of a catalog's resources.
class Routes {
 public:
  explicit Routes(const RestSettings& settings);

  Route Namespaces() const;
  Route Namespace(const iceberg::Namespace& ns) const;
  Route NamespaceProperties(const iceberg::Namespace& ns) const;
  Route Tables(const iceberg::Namespace& ns) const;
  Route Table(const iceberg::TableIdentifier& table) const;
  Route Credentials(const iceberg::TableIdentifier& table) const;
  Route Rename() const;

  /// kUnsupported when the server lists its endpoints and this one is not among them. A server that lists
  /// none has those of the specification's first version.
  Status Require(std::string_view method, const Route& route) const;
  bool Has(std::string_view method, const Route& route) const;

  /// Levels for a path, each encoded, with the server's separator between them.
  std::string EncodeNamespace(const iceberg::Namespace& ns) const;
  /// Levels for a query parameter.
  std::string NamespaceQuery(const iceberg::Namespace& ns) const;

 private:
  Route Make(std::string_view pattern, const std::string& path) const;

  std::string base_;  ///< `https://host/v1/prefix`
  std::string separator_;
  std::set<std::string> endpoints_;
};

/// `https://host/v1/config` and its warehouse.
std::string ConfigUrl(const std::string& uri, const std::string& warehouse);
/// An address that may be relative to the catalog's.
std::string AbsoluteUrl(const std::string& uri, const std::string& url);

}  // namespace firn::catalog::rest
