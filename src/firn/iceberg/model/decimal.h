#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/base/int128.h"
#include "firn/base/result.h"

namespace firn::iceberg {

/// `1420` with scale 2 -> `14.20`.
std::string FormatDecimal(Int128 unscaled, int32_t scale);
/// As java.math.BigDecimal prints it: the same, but small values of many fraction digits as `1.2E-8`.
std::string FormatDecimalAsJava(Int128 unscaled, int32_t scale);
/// The inverse of FormatDecimal: at most `scale` fraction digits other than trailing zeros, at most
/// `precision` digits in all.
Result<Int128> ParseDecimal(std::string_view text, int32_t precision, int32_t scale);

/// Shortest two's-complement big-endian form, at least one byte (bounds, hash input).
std::string DecimalToMinimalBytes(Int128 unscaled);
/// Any length of 1 to 16 bytes; false otherwise.
bool DecimalFromBytes(std::string_view bytes, Int128& unscaled);

}  // namespace firn::iceberg
