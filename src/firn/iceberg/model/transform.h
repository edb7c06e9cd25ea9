#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/iceberg/model/literal.h"
#include "firn/iceberg/model/type.h"

namespace firn::iceberg {

enum class TransformKind : uint8_t {
  kIdentity,
  kBucket,
  kTruncate,
  kYear,
  kMonth,
  kDay,
  kHour,
  kVoid,
  kUnknown
};

/// A partition transform (spec, "Partition Transforms"). A small value.
class Transform {
 public:
  static Transform Identity() { return {TransformKind::kIdentity, 0}; }
  static Transform Void() { return {TransformKind::kVoid, 0}; }
  static Transform Bucket(int32_t n) { return {TransformKind::kBucket, n}; }
  static Transform Truncate(int32_t width) { return {TransformKind::kTruncate, width}; }
  static Transform Of(TransformKind kind) { return {kind, 0}; }
  /// `bucket[16]`, `month` ... (format JSON). Unknown names give kUnknown that keeps its text.
  static Result<Transform> ParseJson(std::string_view text);

  TransformKind kind() const { return kind_; }
  int32_t parameter() const { return parameter_; }
  std::string ToString() const;  ///< JSON form: `bucket[16]`
  bool operator==(const Transform& other) const = default;

  /// Whether the transform takes this source type.
  bool CanApply(const Type& source) const;
  /// Result type for a source type (spec table); int for bucket/year/month/hour, date for day, source for
  /// identity/truncate/void.
  TypePtr ResultType(const TypePtr& source) const;
  /// Null for null. The source literal must be of a type that CanApply accepts.
  Result<Literal> Apply(const Literal& value) const;
  /// Order-preserving on the source order (identity, truncate, year..hour): used for pruning and sort.
  bool preserves_order() const;
  /// Partition path text of a result value: month 2024-03, day 2024-03-01, hour 2024-03-01-05, null ->
  /// "null".
  std::string ToHumanString(const Literal& result) const;

 private:
  Transform(TransformKind kind, int32_t parameter) : kind_(kind), parameter_(parameter) {}

  TransformKind kind_;
  int32_t parameter_;
  std::string unknown_text_;
};

/// murmur3_x86_32 with seed 0 over raw bytes (spec, Appendix B).
int32_t Murmur3(std::string_view bytes);
/// Vectorisable single-value forms for the writer's hot path; same results as Apply.
int32_t BucketHashLong(int64_t value);
int32_t BucketHashBytes(std::string_view bytes);
int32_t BucketHashDecimal(Int128 unscaled);

/// Floor division helpers for the time transforms; results as the transform stores them.
int32_t YearsFromDays(int32_t days);
int32_t MonthsFromDays(int32_t days);
int32_t DaysFromMicros(int64_t micros);
int32_t HoursFromMicros(int64_t micros);

}  // namespace firn::iceberg
