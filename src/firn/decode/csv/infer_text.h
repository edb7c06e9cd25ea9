#pragma once

#include "firn/decode/csv/field_splitter.h"
#include "firn/decode/inferred_type.h"

namespace firn::decode {

/// What a field would be as a column; waiting when it is null.
InferredType InferText(const CsvField& field);

}  // namespace firn::decode
