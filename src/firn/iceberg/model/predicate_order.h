#pragma once

#include <compare>

#include "firn/iceberg/model/literal.h"

namespace firn::iceberg {

bool IsNan(const Literal& value);

/// Order of non-null values of one type as filters compare: NaN equal to itself and above all, -0.0 equal to
/// 0.0.
std::strong_ordering CompareForFilter(const Literal& a, const Literal& b);

}  // namespace firn::iceberg
