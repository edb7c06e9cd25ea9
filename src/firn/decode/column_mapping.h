#pragma once

#include <string_view>

#include "firn/base/error.h"
#include "firn/base/result.h"
#include "firn/decode/column.h"
#include "firn/decode/decoder.h"

namespace firn::decode {

/// kInvalidArgument: the column cannot be filled as its mapping says.
Error BadMapping(const iceberg::NestedField& field, std::string_view why);

/// Binds a mapping's unit and encoding to its top-level column. kInvalidArgument where they are not for the
/// column's type.
Status BindMapping(Column& column, const ColumnMapping& mapping);

}  // namespace firn::decode
