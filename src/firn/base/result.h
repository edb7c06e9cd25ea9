#pragma once

#include <expected>
#include <optional>
#include <type_traits>
#include <utility>

#include "firn/base/check.h"
#include "firn/base/error.h"

namespace firn {

/// A value or an Error. [[nodiscard]] as a type, which std::expected of GCC 12 is not.
/// `value()`/`*`/`->` on an error is a broken invariant and aborts.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  // NOLINTBEGIN(google-explicit-constructor): returning a T or an Error must read naturally
  template <typename U = T>
    requires(std::is_constructible_v<T, U &&> && !std::is_same_v<std::remove_cvref_t<U>, Result> &&
             !std::is_same_v<std::remove_cvref_t<U>, Error>)
  Result(U&& value) : state_(std::in_place, std::forward<U>(value)) {}
  Result(Error error) : state_(std::unexpect, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  bool ok() const { return state_.has_value(); }
  explicit operator bool() const { return ok(); }

  T& value() & {
    Require();
    return *state_;
  }
  const T& value() const& {
    Require();
    return *state_;
  }
  T&& value() && {
    Require();
    return std::move(*state_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& {
    FIRN_CHECK(!ok(), "error() of a Result that holds a value");
    return state_.error();
  }
  Error&& error() && {
    FIRN_CHECK(!ok(), "error() of a Result that holds a value");
    return std::move(state_.error());
  }

 private:
  void Require() const {
    if (!ok()) FailCheck(__FILE__, __LINE__, "result.ok()", state_.error().ToString());
  }

  std::expected<T, Error> state_;
};

/// Success or an Error; `return Ok();` on success.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  void value() const {
    if (!ok()) FailCheck(__FILE__, __LINE__, "status.ok()", error_->ToString());
  }
  const Error& error() const& {
    FIRN_CHECK(!ok(), "error() of a Status that holds success");
    return *error_;
  }
  Error&& error() && {
    FIRN_CHECK(!ok(), "error() of a Status that holds success");
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

inline Status Ok() { return {}; }

/// The outcome is deliberately of no interest; say why beside the call.
template <typename T>
void Ignore(Result<T>&& /*result*/) {}

}  // namespace firn

#define FIRN_CONCAT_INNER(a, b) a##b
#define FIRN_CONCAT(a, b) FIRN_CONCAT_INNER(a, b)

/// Returns the error of `expr` (a Result or Status) to the caller, or goes on.
#define FIRN_TRY(expr)                                      \
  do {                                                      \
    if (auto firn_status = (expr); !firn_status.ok()) {     \
      return ::firn::Error(std::move(firn_status).error()); \
    }                                                       \
  } while (false)

/// `FIRN_ASSIGN(auto x, Compute());` or `FIRN_ASSIGN(x_, Compute());`
#define FIRN_ASSIGN(lhs, expr) FIRN_ASSIGN_IMPL(FIRN_CONCAT(firn_result_, __LINE__), lhs, expr)
#define FIRN_ASSIGN_IMPL(name, lhs, expr)                        \
  auto name = (expr);                                            \
  if (!name.ok()) return ::firn::Error(std::move(name).error()); \
  lhs = std::move(name).value()

/// Like the two above, with context added to the error.
#define FIRN_TRY_CTX(expr, context)                                              \
  do {                                                                           \
    if (auto firn_status = (expr); !firn_status.ok()) {                          \
      return ::firn::Error(std::move(firn_status).error()).WithContext(context); \
    }                                                                            \
  } while (false)
#define FIRN_ASSIGN_CTX(lhs, expr, context) \
  FIRN_ASSIGN_CTX_IMPL(FIRN_CONCAT(firn_result_, __LINE__), lhs, expr, context)
#define FIRN_ASSIGN_CTX_IMPL(name, lhs, expr, context)                                \
  auto name = (expr);                                                                 \
  if (!name.ok()) return ::firn::Error(std::move(name).error()).WithContext(context); \
  lhs = std::move(name).value()
