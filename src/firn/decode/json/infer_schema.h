#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/schema.h"
#include "firn/record/raw_batch.h"

namespace firn::decode {

struct InferredSchema {
  iceberg::SchemaPtr
      schema;           ///< all columns optional, in the order in which fields were first seen, ids from 1
  int64_t records = 0;  ///< looked at: tombstones and bad records left out
  int64_t bad_records = 0;  ///< not JSON, or no object
  std::vector<std::string>
      notes;  ///< for people: fields that were left out or will bring bad records, and why
};

/// Columns for records like these (product page, "Types"): integers long, numbers with a fraction double, a
/// mix double; text stays text whatever it looks like; null alone, {} and [] say nothing. Where records
/// disagree on a field the type that most of them have wins and a note tells how many will be bad records.
///
/// kInvalidArgument, with the remedy: nothing to learn from, or names that differ only in case.
Result<InferredSchema> InferJsonSchema(const std::vector<record::RawBatch>& sample);

/// The schema alone.
Result<iceberg::SchemaPtr> InferSchema(const std::vector<record::RawBatch>& sample);

}  // namespace firn::decode
