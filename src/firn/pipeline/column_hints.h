#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "firn/iceberg/model/schema.h"

namespace firn::pipeline {

/// What a sample's values say of one inferred column that its type does not: for people who are about to
/// declare it.
struct ColumnHint {
  std::string column;
  std::string text;         ///< one sentence
  std::string better_type;  ///< a declaration that keeps more of the meaning: `timestamp`, `long` with `unit:
                            ///< millis` ...
  std::string unit;         ///< with it, for time-like types of numbers
};

/// Hints for top-level columns: text that is a timestamp, a date, a UUID or a number in every row, whole
/// numbers that are times since 1970, fractions that look like amounts of money. Rows are as
/// iceberg::RowsToJson gives them. A column of fewer than kLeastValues values brings none.
std::vector<ColumnHint> HintsOf(const iceberg::Schema& schema,
                                const std::vector<nlohmann::ordered_json>& rows);
inline constexpr int kLeastValues = 3;

}  // namespace firn::pipeline
