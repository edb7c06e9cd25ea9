#pragma once

#include <nlohmann/json_fwd.hpp>

#include "firn/base/result.h"
#include "firn/iceberg/model/literal.h"

namespace firn::iceberg {

/// JSON single-value form of a primitive (spec, Appendix D "JSON single-value serialization"): numbers and
/// booleans as JSON, decimals, dates and times as text, bytes in hexadecimal. Null is JSON null.
nlohmann::json ToJson(const Literal& literal);
Result<Literal> LiteralFromJson(const TypePtr& type, const nlohmann::json& json);

}  // namespace firn::iceberg
