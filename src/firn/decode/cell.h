#pragma once

#include <cstdint>
#include <string_view>

#include "firn/decode/column.h"
#include "firn/decode/number.h"

namespace firn::decode {

/// Why a value did not become a cell; `reason` is empty when it did.
struct CellOutcome {
  std::string_view reason;
  std::string_view expected;   ///< for people
  int64_t decimal_digits = 0;  ///< out_of_range of a decimal: precision that would hold it
  bool fits_wider = false;     ///< out_of_range: the next wider type of the format would hold it
  bool ok() const { return reason.empty(); }
};

/// A JSON number into a column of a primitive type. `epoch_digits`: decimal digits of the declared epoch unit
/// below a second (seconds 0 .. nanoseconds 9), -1 where numbers are refused for time-like columns.
CellOutcome AppendNumber(Column& column, const NumberText& number, int epoch_digits);

/// Text into a column of a primitive type that is not string: decimals, dates, times, timestamps, uuids,
/// bytes in the column's encoding, NaN, Infinity and -Infinity of floats. The byte behind the text must be
/// readable.
CellOutcome AppendText(Column& column, std::string_view text);

/// Text of a format that has nothing else (CSV) into a column of a primitive type: as AppendText, strings as
/// they are, and the text of numbers and booleans (any case). A byte that is part of no number must stand
/// behind the text.
CellOutcome AppendPlainText(Column& column, std::string_view text, int epoch_digits);

/// A map's key: as AppendText, also text of numbers and booleans; strings as they are.
CellOutcome AppendMapKey(Column& column, std::string_view text);

/// What the column takes, for messages.
std::string_view ExpectedJson(const Column& column);

}  // namespace firn::decode
