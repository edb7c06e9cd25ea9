#include "firn/iceberg/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace firn::iceberg {

std::string TableIdentifier::ToString() const {
  return ns.empty() ? name : fmt::format("{}.{}", fmt::join(ns, "."), name);
}

}  // namespace firn::iceberg
