#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/iceberg/model/literal.h"
#include "firn/iceberg/model/schema.h"
#include "firn/iceberg/model/sort_order.h"

namespace firn::iceberg {

/// How much a manifest keeps of a column (`write.metadata.metrics.*`).
struct MetricsMode {
  enum class Kind : uint8_t { kNone, kCounts, kTruncate, kFull };
  Kind kind = Kind::kTruncate;
  int32_t length = 16;  ///< code points or bytes, with kTruncate

  bool has_counts() const { return kind != Kind::kNone; }
  bool has_bounds() const { return kind == Kind::kTruncate || kind == Kind::kFull; }
  bool operator==(const MetricsMode&) const = default;
};

/// `none`, `counts`, `truncate(16)`, `full`, in any case.
Result<MetricsMode> ParseMetricsMode(std::string_view text);

/// Mode of every column of a table, by field id.
class MetricsConfig {
 public:
  /// Resolution: the column's own property, then sort-order columns (raised to truncate(16) where the default
  /// is less), then `write.metadata.metrics.default`, then truncate(16) for all, or in a wide table only for
  /// the first `write.metadata.metrics.max-inferred-column-defaults` primitive columns, level by level. A
  /// mode that does not parse counts as unset.
  static MetricsConfig Resolve(const std::map<std::string, std::string>& properties, const Schema& schema,
                               const SortOrder& order);

  MetricsMode ModeOf(int32_t field_id) const;

 private:
  MetricsMode default_mode_;
  std::map<int32_t, MetricsMode> modes_;  ///< only what differs from the default
};

/// Bounds as a manifest keeps them, Appendix D bytes. Empty: leave the bound out (NaN and null, an upper
/// bound that cannot be incremented, a type without bounds). Zeros of floats are widened: -0.0 as lower, +0.0
/// as upper bound, so that neither zero hides the other.
std::optional<std::string> LowerBound(const Literal& min, MetricsMode mode);
std::optional<std::string> UpperBound(const Literal& max, MetricsMode mode);

/// Longest prefix of at most `code_points` code points.
std::string_view TruncateCodePoints(std::string_view utf8, int32_t code_points);
/// A text of at most `code_points` code points that is not less than `utf8`: itself when short enough, else
/// the prefix with its last incrementable code point plus one. Empty when no code point can be incremented.
std::optional<std::string> TruncateTextUp(std::string_view utf8, int32_t code_points);
/// The same on bytes.
std::optional<std::string> TruncateBytesUp(std::string_view bytes, int32_t length);

}  // namespace firn::iceberg
