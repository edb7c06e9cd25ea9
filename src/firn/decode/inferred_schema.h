#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firn/iceberg/model/schema.h"

namespace firn::decode {

/// Columns for a new table, found in a sample of records or told by the schema they come with.
struct InferredSchema {
  iceberg::SchemaPtr
      schema;           ///< all columns optional, in the order in which fields were first seen, ids from 1
  int64_t records = 0;  ///< looked at: tombstones and bad records left out
  int64_t bad_records = 0;
  std::vector<std::string>
      notes;  ///< for people: fields that were left out or will bring bad records, and why
};

}  // namespace firn::decode
