#pragma once

#include <cstdint>

#include "firn/base/int128.h"

namespace firn::decode {

/// A JSON number taken apart, still text: nothing is rounded yet.
struct NumberText {
  const uint8_t* begin = nullptr;
  const uint8_t* end = nullptr;
  const uint8_t* integer_begin = nullptr;  ///< digits before the point
  const uint8_t* integer_end = nullptr;
  const uint8_t* fraction_begin = nullptr;  ///< digits after the point; empty range when there are none
  const uint8_t* fraction_end = nullptr;
  int64_t exponent = 0;  ///< clamped far outside every type's range
  bool negative = false;
  bool is_integer_form = true;  ///< neither point nor exponent
};

/// Reads a number by the grammar of RFC 8259 (no leading zeros, no plus, digits on both sides of the point).
/// False when `text` does not start with one. Does not judge the byte that follows; it must be readable.
bool ScanNumber(const uint8_t* text, NumberText* number);

enum class NumberOutcome : uint8_t {
  kOk,
  kInexact,     ///< digits other than 0 below the scale
  kOutOfRange,  ///< more digits than the type holds
};

/// number x 10^scale as an integer, exactly. `digits` (may be null) gets the count of decimal digits needed,
/// also when they are more than 38 (kOutOfRange).
NumberOutcome ToScaled(const NumberText& number, int32_t scale, Int128* out, int64_t* digits = nullptr);

/// The integer in [lowest, highest]; also for forms like 1.0 and 12e2 that are whole.
NumberOutcome ToInteger(const NumberText& number, int64_t lowest, int64_t highest, int64_t* out);

/// Nearest double or float; kOutOfRange beyond the finite ones. Too small becomes zero.
NumberOutcome ToDouble(const NumberText& number, double* out);
NumberOutcome ToFloat(const NumberText& number, float* out);

}  // namespace firn::decode
