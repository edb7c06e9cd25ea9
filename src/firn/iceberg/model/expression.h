#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/literal.h"
#include "firn/iceberg/model/partition_spec.h"
#include "firn/iceberg/model/schema.h"

namespace firn::iceberg {

enum class PredicateOp : uint8_t {
  kIsNull,
  kNotNull,
  kIsNan,
  kNotNan,
  kEq,
  kNotEq,
  kLt,
  kLtEq,
  kGt,
  kGtEq,
  kIn,
  kNotIn,
  kStartsWith,
  kNotStartsWith,
};

class Filter;
using FilterPtr = std::shared_ptr<const Filter>;

/// One comparison of one column, bound to a schema. Comparisons with null are unknown, so every op but
/// kIsNull and kNotNan is false for a null value: the negated ops too, as in SQL. NaN equals itself and
/// stands above all numbers and -0.0 equals 0.0, as Spark, DuckDB and PostgreSQL compare.
struct BoundPredicate {
  PredicateOp op = PredicateOp::kIsNull;
  int32_t field_id = 0;
  std::string column;             ///< dotted name, for messages
  TypePtr type;                   ///< of the column
  std::vector<Literal> literals;  ///< of the column's type; none for null and NaN tests, sorted and without
                                  ///< repeats for the two INs

  /// Whether one value (of `type`, maybe null) passes.
  bool Test(const Literal& value) const;
};

/// A filter over rows: AND, OR of bound predicates, or a constant. Immutable. NOT is gone after binding (it
/// is pushed into the predicates, which is right under SQL's three-valued logic too).
class Filter {
 public:
  enum class Kind : uint8_t { kTrue, kFalse, kAnd, kOr, kPredicate };

  static FilterPtr True();
  static FilterPtr False();
  static FilterPtr And(FilterPtr left, FilterPtr right);  ///< simplifies constants
  static FilterPtr Or(FilterPtr left, FilterPtr right);
  static FilterPtr Predicate(BoundPredicate predicate);

  Kind kind() const { return kind_; }
  const FilterPtr& left() const { return left_; }    ///< kAnd, kOr
  const FilterPtr& right() const { return right_; }  ///< kAnd, kOr
  const BoundPredicate& predicate() const { return predicate_; }

  /// Evaluates with a test of one predicate: what iceberg/scan does per row, and the evaluators below per
  /// file.
  bool Evaluate(const std::function<bool(const BoundPredicate&)>& test) const;
  /// Ids of the columns it reads, sorted, without repeats.
  std::vector<int32_t> FieldIds() const;
  std::string ToString() const;

  explicit Filter(Kind kind) : kind_(kind) {}

 private:
  Kind kind_;
  FilterPtr left_;
  FilterPtr right_;
  BoundPredicate predicate_;
};

/// Parses and binds the text of `--where`, SQL's own words in any case:
///   filter := or; or := and {OR and}; and := not {AND not}; not := [NOT] (predicate | '(' or ')' | TRUE |
///   FALSE) predicate := column op value | value op column | column [NOT] IN (value, ...) | column [NOT]
///   BETWEEN value AND value
///              | column IS [NOT] NULL | column IS [NOT] NAN | column [NOT] LIKE 'prefix%' | column
///   op: = == != <> < <= > >=
/// Columns: `a`, `a.b`, `"odd name"`, `` `odd` ``; a bare column must be boolean. Values: 'text' ('' is a
/// quote), numbers, TRUE, FALSE; dates, timestamps, UUIDs and bytes as quoted text, optionally after DATE,
/// TIME or TIMESTAMP; X'0a' are bytes. A number outside the column's type decides the comparison instead of
/// failing (`int_col < 9999999999` is IS NOT NULL). kInvalidArgument names the position (from 1) and, for an
/// unknown column, the nearest one.
Result<FilterPtr> ParseFilter(std::string_view text, const Schema& schema);

/// The inclusive projection: whether rows of a file in this partition may match. Through identity, bucket
/// (equality and IN), truncate, and the time transforms; a transform it cannot see through may match.
bool MayMatchPartition(const Filter& filter, const PartitionSpec& spec, const PartitionValues& partition);

/// Per partition field: what a manifest list says of a whole manifest (bounds are Appendix D bytes of the
/// partition type).
struct PartitionFieldRange {
  bool contains_null = true;
  std::optional<bool> contains_nan;
  std::optional<std::string> lower;
  std::optional<std::string> upper;
};
/// Whether a manifest with these summaries (one per spec field; empty: none known) may hold a matching file.
/// `partition_type`: the struct of TableMetadata::PartitionType.
bool MayMatchManifest(const Filter& filter, const PartitionSpec& spec, const Type& partition_type,
                      const std::vector<PartitionFieldRange>& ranges);

/// Metrics of one data file, by field id; any map may lack any column. Borrowed.
struct FileMetrics {
  int64_t record_count = 0;
  const std::map<int32_t, int64_t>* value_counts = nullptr;
  const std::map<int32_t, int64_t>* null_value_counts = nullptr;
  const std::map<int32_t, int64_t>* nan_value_counts = nullptr;
  const std::map<int32_t, std::string>* lower_bounds = nullptr;
  const std::map<int32_t, std::string>* upper_bounds = nullptr;
};
/// Whether rows of a file with these metrics may match: false only when none can.
bool MayMatchMetrics(const Filter& filter, const FileMetrics& metrics);

}  // namespace firn::iceberg
