#pragma once

#include <string_view>

namespace firn {

/// Prints file, line, condition, text, version, build id, thread name and a backtrace, then aborts.
/// For broken invariants of our own on the data path; bad input is an Error, never a check.
[[noreturn]] void FailCheck(const char* file, int line, std::string_view condition, std::string_view text);

}  // namespace firn

/// FIRN_CHECK(condition, "what was assumed"): always on, also in release.
#define FIRN_CHECK(condition, text)                              \
  do {                                                           \
    if (!(condition)) [[unlikely]] {                             \
      ::firn::FailCheck(__FILE__, __LINE__, #condition, (text)); \
    }                                                            \
  } while (false)
