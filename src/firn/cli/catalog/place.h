#pragma once

#include <string>

#include "firn/base/result.h"
#include "firn/iceberg/catalog.h"

namespace firn::cli {

/// `lake`, `lake.travel` or `lake.a.b`: a catalog and, maybe, a namespace in it.
struct Place {
  std::string catalog;
  iceberg::Namespace ns;
  std::string ToString() const;
};

/// kInvalidArgument for empty levels.
Result<Place> ParsePlace(const std::string& text);
/// The same, with a namespace.
Result<Place> ParseNamespacePlace(const std::string& text);

}  // namespace firn::cli
