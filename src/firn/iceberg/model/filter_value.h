#pragma once

#include <optional>

#include "firn/base/result.h"
#include "firn/iceberg/model/filter_token.h"
#include "firn/iceberg/model/literal.h"

namespace firn::iceberg {

/// A value of a filter against the type of its column. A number that the type cannot hold still has a place
/// in the type's order.
struct PlacedValue {
  enum class Place : uint8_t {
    kExact,  ///< `literal`
    kAbove,  ///< greater than `literal` and less than the type's next value (1.5 for an int: 1)
    kBeyondMax,
    kBelowMin,
  };
  Place place = Place::kExact;
  std::optional<Literal> literal;
};

/// kInvalidArgument names the position of the value.
Result<PlacedValue> PlaceValue(const Token& value, const TypePtr& type);

}  // namespace firn::iceberg
