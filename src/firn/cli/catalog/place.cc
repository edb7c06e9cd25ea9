#include "firn/cli/catalog/place.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace firn::cli {

std::string Place::ToString() const {
  return ns.empty() ? catalog : fmt::format("{}.{}", catalog, fmt::join(ns, "."));
}

Result<Place> ParsePlace(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (const std::string& part : parts) {
    if (part.empty()) {
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("'{}' is no catalog and no catalog.namespace", text))
          .WithRemedy("Write for example lake or lake.travel, where lake is a key under catalogs:.");
    }
  }
  return Place{parts.front(), {parts.begin() + 1, parts.end()}};
}

Result<Place> ParseNamespacePlace(const std::string& text) {
  FIRN_ASSIGN(Place place, ParsePlace(text));
  if (!place.ns.empty()) return place;
  return Error(ErrorKind::kInvalidArgument, fmt::format("'{}' is not catalog.namespace", text))
      .WithRemedy("Write for example lake.travel, where lake is a key under catalogs:.");
}

}  // namespace firn::cli
