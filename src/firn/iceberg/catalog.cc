#include "firn/iceberg/catalog.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace firn::iceberg {

std::string TableIdentifier::ToString() const {
  return ns.empty() ? name : fmt::format("{}.{}", fmt::join(ns, "."), name);
}

Status CheckNamespaceUpdate(const Namespace& ns, const std::vector<std::string>& removals,
                            const Properties& updates) {
  const auto both = std::find_if(removals.begin(), removals.end(),
                                 [&](const std::string& key) { return updates.contains(key); });
  if (both == removals.end()) return Ok();
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("namespace {}: property {} is to be set and removed", fmt::join(ns, "."), *both))
      .WithRemedy("Name it once.");
}

}  // namespace firn::iceberg
