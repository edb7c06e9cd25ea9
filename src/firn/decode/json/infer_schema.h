#pragma once

#include <string_view>
#include <vector>

#include "firn/base/result.h"
#include "firn/decode/inferred_schema.h"
#include "firn/record/raw_batch.h"

namespace firn::decode {

/// Columns for records like these (product page, "Types"): integers long, numbers with a fraction double, a
/// mix double; text stays text whatever it looks like; null alone, {} and [] say nothing. Where records
/// disagree on a field the type that most of them have wins and a note tells how many will be bad records.
///
/// kInvalidArgument, with the remedy: nothing to learn from, or names that differ only in case.
Result<InferredSchema> InferJsonSchema(const std::vector<record::RawBatch>& sample);

/// The same for keys, which may be plain values: those are one column of this name.
Result<InferredSchema> InferJsonKeySchema(std::string_view column,
                                          const std::vector<record::RawBatch>& sample);

}  // namespace firn::decode
