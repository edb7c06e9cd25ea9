#include <algorithm>
#include <limits>
#include <optional>

#include "firn/base/check.h"
#include "firn/iceberg/model/expression.h"
#include "firn/iceberg/model/predicate_order.h"

namespace firn::iceberg {

namespace {

/// What is known of the values of one column in a file or manifest. Unknown is the permissive answer
/// everywhere.
struct ValueRange {
  bool may_be_null = true;
  bool may_be_non_null = true;
  bool may_be_nan = true;  ///< only asked for floats
  std::optional<Literal> lower;
  std::optional<Literal> upper;
};

bool IsFloat(const Type& type) { return type.id() == TypeId::kFloat || type.id() == TypeId::kDouble; }

/// A bound that decodes and orders; old writers left NaN in bounds, which says nothing.
std::optional<Literal> DecodeBound(const TypePtr& type, const std::string* bytes) {
  if (bytes == nullptr) return std::nullopt;
  Result<Literal> bound = Literal::FromBytes(type, *bytes);
  if (!bound.ok() || IsNan(*bound)) return std::nullopt;
  return std::move(bound).value();
}

bool MayEqual(const ValueRange& range, const Literal& value) {
  if (IsNan(value)) return range.may_be_nan;
  if (range.lower && CompareForFilter(*range.lower, value) > 0) return false;
  return !range.upper || CompareForFilter(*range.upper, value) >= 0;
}

bool IsOnly(const ValueRange& range, const Literal& value) {
  return range.lower && range.upper && CompareForFilter(*range.lower, value) == 0 &&
         CompareForFilter(*range.upper, value) == 0;
}

bool MayStartWith(const ValueRange& range, const std::string& prefix) {
  if (range.lower && range.lower->get<std::string>() > prefix &&
      !range.lower->get<std::string>().starts_with(prefix))
    return false;
  return !range.upper || range.upper->get<std::string>() >= prefix;
}

bool AllStartWith(const ValueRange& range, const std::string& prefix) {
  return range.lower && range.upper && range.lower->get<std::string>().starts_with(prefix) &&
         range.upper->get<std::string>().starts_with(prefix);
}

bool MayMatch(const BoundPredicate& predicate, const ValueRange& range) {
  const bool may_be_nan = IsFloat(*predicate.type) && range.may_be_nan;
  const auto& literals = predicate.literals;
  if (predicate.op == PredicateOp::kIsNull) return range.may_be_null;
  if (predicate.op == PredicateOp::kNotNan) return true;
  if (!range.may_be_non_null) return false;
  switch (predicate.op) {
    case PredicateOp::kIsNan:
      return may_be_nan;
    case PredicateOp::kEq:
      return MayEqual(range, literals[0]);
    case PredicateOp::kNotEq:
      return may_be_nan || !IsOnly(range, literals[0]);
    case PredicateOp::kLt:
      return !range.lower || CompareForFilter(*range.lower, literals[0]) < 0;
    case PredicateOp::kLtEq:
      return !range.lower || CompareForFilter(*range.lower, literals[0]) <= 0;
    case PredicateOp::kGt:
      return may_be_nan || !range.upper || CompareForFilter(*range.upper, literals[0]) > 0;
    case PredicateOp::kGtEq:
      return may_be_nan || !range.upper || CompareForFilter(*range.upper, literals[0]) >= 0;
    case PredicateOp::kIn:
      return std::ranges::any_of(literals,
                                 [&range](const Literal& literal) { return MayEqual(range, literal); });
    case PredicateOp::kNotIn:
      return may_be_nan || std::ranges::none_of(
                               literals, [&range](const Literal& literal) { return IsOnly(range, literal); });
    case PredicateOp::kStartsWith:
      return MayStartWith(range, literals[0].get<std::string>());
    case PredicateOp::kNotStartsWith:
      return !AllStartWith(range, literals[0].get<std::string>());
    default:
      return true;
  }
}

bool IsTime(TransformKind kind) {
  return kind == TransformKind::kYear || kind == TransformKind::kMonth || kind == TransformKind::kDay ||
         kind == TransformKind::kHour;
}

/// A predicate on the partition value that holds wherever the predicate on the source column can: the
/// inclusive projection.
class Projection {
 public:
  Projection(const BoundPredicate& predicate, const PartitionField& field)
      : predicate_(predicate), transform_(field.transform) {}

  /// Empty: the partition value says nothing.
  std::optional<BoundPredicate> Make() const {
    const TransformKind kind = transform_.kind();
    if (kind == TransformKind::kVoid || kind == TransformKind::kUnknown ||
        !transform_.CanApply(*predicate_.type))
      return std::nullopt;
    if (kind == TransformKind::kIdentity) return predicate_;
    switch (predicate_.op) {
      case PredicateOp::kIsNull:
      case PredicateOp::kNotNull:
        return With(predicate_.op, {});
      case PredicateOp::kEq:
      case PredicateOp::kIn:
        return OneOf();
      case PredicateOp::kNotEq:
      case PredicateOp::kNotIn:
        return With(PredicateOp::kNotNull, {});
      case PredicateOp::kStartsWith:
      case PredicateOp::kNotStartsWith:
        return Prefix();
      default:
        return Ordered();
    }
  }

 private:
  std::optional<BoundPredicate> With(PredicateOp op, std::vector<Literal> literals) const {
    BoundPredicate projected{op, predicate_.field_id, predicate_.column,
                             transform_.ResultType(predicate_.type), std::move(literals)};
    return projected;
  }

  std::optional<Literal> Apply(const Literal& literal) const {
    Result<Literal> result = transform_.Apply(literal);
    return result.ok() ? std::optional(std::move(result).value()) : std::nullopt;
  }

  /// Old Java writers rounded times before 1970 toward zero, one too high.
  static std::optional<Literal> OneUp(const Literal& result) {
    const int32_t ordinal = result.get<int32_t>();
    if (ordinal >= 0) return std::nullopt;
    return Literal(result.type(), ordinal + 1);
  }

  std::optional<BoundPredicate> OneOf() const {
    std::vector<Literal> results;
    for (const Literal& literal : predicate_.literals) {
      const std::optional<Literal> result = Apply(literal);
      if (!result) return std::nullopt;
      results.push_back(*result);
      if (!IsTime(transform_.kind())) continue;
      if (const auto above = OneUp(*result)) results.push_back(*above);
    }
    const auto less = [](const Literal& a, const Literal& b) { return CompareForFilter(a, b) < 0; };
    std::ranges::sort(results, less);
    results.erase(std::unique(results.begin(), results.end()), results.end());
    return With(PredicateOp::kIn, std::move(results));
  }

  std::optional<BoundPredicate> Ordered() const {
    if (!transform_.preserves_order() || predicate_.literals.empty()) return std::nullopt;
    std::optional<Literal> result = Apply(predicate_.literals[0]);
    if (!result) return std::nullopt;
    if (predicate_.op == PredicateOp::kGt || predicate_.op == PredicateOp::kGtEq)
      return With(PredicateOp::kGtEq, {*result});
    if (IsTime(transform_.kind())) result = OneUp(*result).value_or(*result);
    return With(PredicateOp::kLtEq, {*result});
  }

  std::optional<BoundPredicate> Prefix() const {
    if (transform_.kind() != TransformKind::kTruncate) return std::nullopt;
    const std::optional<Literal> result = Apply(predicate_.literals[0]);
    if (!result) return std::nullopt;
    // A prefix longer than the partition's text says nothing of what does not begin with it.
    if (predicate_.op == PredicateOp::kNotStartsWith && *result != predicate_.literals[0])
      return std::nullopt;
    return With(predicate_.op, {*result});
  }

  const BoundPredicate& predicate_;
  const Transform& transform_;
};

/// Whether the predicate may match, as far as each field of the spec on its column tells.
template <typename Test>
bool EveryFieldAllows(const BoundPredicate& predicate, const PartitionSpec& spec, Test test) {
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    if (spec.fields[i].source_id != predicate.field_id) continue;
    const std::optional<BoundPredicate> projected = Projection(predicate, spec.fields[i]).Make();
    if (projected && !test(i, *projected)) return false;
  }
  return true;
}

/// Values written before a promotion may still have the narrower storage.
bool SameStorage(const BoundPredicate& predicate, const Literal& value) {
  return value.is_null() || predicate.literals.empty() ||
         predicate.literals[0].value().index() == value.value().index();
}

const std::string* Find(const std::map<int32_t, std::string>* map, int32_t id) {
  if (map == nullptr) return nullptr;
  const auto it = map->find(id);
  return it == map->end() ? nullptr : &it->second;
}

std::optional<int64_t> FindCount(const std::map<int32_t, int64_t>* map, int32_t id) {
  if (map == nullptr) return std::nullopt;
  const auto it = map->find(id);
  return it == map->end() ? std::nullopt : std::optional(it->second);
}

ValueRange RangeOf(const BoundPredicate& predicate, const FileMetrics& metrics) {
  const int32_t id = predicate.field_id;
  const std::optional<int64_t> values = FindCount(metrics.value_counts, id);
  const std::optional<int64_t> nulls = FindCount(metrics.null_value_counts, id);
  const std::optional<int64_t> nans = FindCount(metrics.nan_value_counts, id);
  ValueRange range;
  range.may_be_null = !nulls || *nulls > 0;
  range.may_be_non_null = !values || !nulls || *nulls < *values;
  range.may_be_nan = !nans || *nans > 0;
  range.lower = DecodeBound(predicate.type, Find(metrics.lower_bounds, id));
  range.upper = DecodeBound(predicate.type, Find(metrics.upper_bounds, id));
  return range;
}

ValueRange RangeOf(const BoundPredicate& predicate, const PartitionFieldRange& summary, const TypePtr& type) {
  ValueRange range;
  range.may_be_null = summary.contains_null;
  range.may_be_nan = summary.contains_nan.value_or(true);
  // Without bounds nothing but nulls and NaN was seen; NaN counts as a value.
  const bool has_bounds = summary.lower || summary.upper;
  range.may_be_non_null = has_bounds || !summary.contains_null || (IsFloat(*type) && range.may_be_nan);
  if (!type->Equals(*predicate.type) && type->id() != predicate.type->id()) return range;
  range.lower = DecodeBound(predicate.type, summary.lower ? &*summary.lower : nullptr);
  range.upper = DecodeBound(predicate.type, summary.upper ? &*summary.upper : nullptr);
  return range;
}

}  // namespace

bool MayMatchPartition(const Filter& filter, const PartitionSpec& spec, const PartitionValues& partition) {
  FIRN_CHECK(spec.fields.size() == partition.values.size(), "one partition value per field of the spec");
  return filter.Evaluate([&](const BoundPredicate& predicate) {
    return EveryFieldAllows(predicate, spec, [&](size_t i, const BoundPredicate& projected) {
      return !SameStorage(projected, partition.values[i]) || projected.Test(partition.values[i]);
    });
  });
}

bool MayMatchManifest(const Filter& filter, const PartitionSpec& spec, const Type& partition_type,
                      const std::vector<PartitionFieldRange>& ranges) {
  if (ranges.size() != spec.fields.size() || partition_type.fields().size() != ranges.size()) return true;
  return filter.Evaluate([&](const BoundPredicate& predicate) {
    return EveryFieldAllows(predicate, spec, [&](size_t i, const BoundPredicate& projected) {
      return MayMatch(projected, RangeOf(projected, ranges[i], partition_type.fields()[i].type));
    });
  });
}

bool MayMatchMetrics(const Filter& filter, const FileMetrics& metrics) {
  if (metrics.record_count == 0) return false;
  return filter.Evaluate([&metrics](const BoundPredicate& predicate) {
    return MayMatch(predicate, RangeOf(predicate, metrics));
  });
}

}  // namespace firn::iceberg
