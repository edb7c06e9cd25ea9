#pragma once

#include <arrow/result.h>
#include <arrow/status.h>

#include <exception>
#include <string_view>
#include <utility>

#include "firn/base/result.h"

namespace firn::iceberg {

/// Our error for an Arrow status that is not OK. One that ToArrow made comes back as it was; IOError and
/// Invalid (what Arrow says of bytes it cannot read) become kCorrupt, OutOfMemory kResourceExhausted,
/// NotImplemented kUnsupported.
Error FromArrow(const arrow::Status& status);
/// For our code that is called by Arrow (streams): carries the error through Arrow unchanged.
arrow::Status ToArrow(const Error& error);
/// The error of the exception being handled; call inside a catch block. Parquet throws, mostly on bytes it
/// cannot read.
Error FromCurrentException();

/// Runs `body`, which gives a Result or Status of ours, and turns what Parquet throws into an error.
template <typename Body>
auto CatchParquet(Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    return FromCurrentException();
  }
}

}  // namespace firn::iceberg

/// Like FIRN_TRY and FIRN_ASSIGN, for arrow::Status and arrow::Result.
#define FIRN_ARROW_TRY(expr)                                                     \
  do {                                                                           \
    if (auto firn_arrow_status = (expr); !firn_arrow_status.ok()) [[unlikely]] { \
      return ::firn::iceberg::FromArrow(firn_arrow_status);                      \
    }                                                                            \
  } while (false)
#define FIRN_ARROW_ASSIGN(lhs, expr) \
  FIRN_ARROW_ASSIGN_IMPL(FIRN_CONCAT(firn_arrow_result_, __LINE__), lhs, expr)
#define FIRN_ARROW_ASSIGN_IMPL(name, lhs, expr)       \
  auto name = (expr);                                 \
  if (!name.ok()) [[unlikely]]                        \
    return ::firn::iceberg::FromArrow(name.status()); \
  lhs = std::move(name).ValueUnsafe()
