#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/base/result.h"

namespace firn {

// Values with units as the pipeline file and the command line write them.

/// `250ms`, `60s`, `5m`, `1h30m`, `7d` to milliseconds. A bare number is refused (but 0): its unit would be a
/// guess.
Result<int64_t> ParseDurationMs(std::string_view text);
/// `1048576`, `64KiB`, `512MiB`, `1GiB`, `2TiB` (powers of 1024) and `KB`, `MB`, `GB`, `TB` (powers of 1000)
/// to bytes.
Result<int64_t> ParseBytes(std::string_view text);

/// The shortest text that the functions above read back to the same value: `60000` -> `1m`, `536870912` ->
/// `512MiB`.
std::string DurationText(int64_t ms);
std::string BytesText(int64_t bytes);

// For people, rounded.

std::string HumanCount(int64_t count);    ///< `1,234,567`
std::string HumanShort(double value);     ///< `987`, `12.3k`, `1.05M`
std::string HumanBytes(int64_t bytes);    ///< `17 B`, `1.5 MiB`
std::string HumanDurationMs(int64_t ms);  ///< `870 ms`, `4.2 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`

}  // namespace firn
