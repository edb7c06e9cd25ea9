#include "firn/iceberg/model/expression.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "firn/base/check.h"
#include "firn/iceberg/model/predicate_order.h"

namespace firn::iceberg {

namespace {

std::string_view OpText(PredicateOp op) {
  switch (op) {
    case PredicateOp::kIsNull:
      return "IS NULL";
    case PredicateOp::kNotNull:
      return "IS NOT NULL";
    case PredicateOp::kIsNan:
      return "IS NAN";
    case PredicateOp::kNotNan:
      return "IS NOT NAN";
    case PredicateOp::kEq:
      return "=";
    case PredicateOp::kNotEq:
      return "!=";
    case PredicateOp::kLt:
      return "<";
    case PredicateOp::kLtEq:
      return "<=";
    case PredicateOp::kGt:
      return ">";
    case PredicateOp::kGtEq:
      return ">=";
    case PredicateOp::kIn:
      return "IN";
    case PredicateOp::kNotIn:
      return "NOT IN";
    case PredicateOp::kStartsWith:
      return "STARTS WITH";
    case PredicateOp::kNotStartsWith:
      return "NOT STARTS WITH";
  }
  return "?";
}

std::string PredicateText(const BoundPredicate& predicate) {
  std::string text = fmt::format("{} {}", predicate.column, OpText(predicate.op));
  const bool is_list = predicate.op == PredicateOp::kIn || predicate.op == PredicateOp::kNotIn;
  std::string values;
  for (const Literal& literal : predicate.literals) {
    if (!values.empty()) values += ", ";
    values += fmt::format("'{}'", literal.ToHumanString());
  }
  if (is_list) return fmt::format("{} ({})", text, values);
  return values.empty() ? text : fmt::format("{} {}", text, values);
}

bool Contains(const std::vector<Literal>& sorted, const Literal& value) {
  return std::ranges::binary_search(
      sorted, value, [](const Literal& a, const Literal& b) { return CompareForFilter(a, b) < 0; });
}

}  // namespace

bool IsNan(const Literal& value) {
  if (const auto* number = std::get_if<float>(&value.value())) return std::isnan(*number);
  if (const auto* number = std::get_if<double>(&value.value())) return std::isnan(*number);
  return false;
}

std::strong_ordering CompareForFilter(const Literal& a, const Literal& b) {
  const auto compare = [](auto x, auto y) {
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) <=> std::isnan(y);
    return x < y   ? std::strong_ordering::less
           : x > y ? std::strong_ordering::greater
                   : std::strong_ordering::equal;
  };
  if (std::holds_alternative<float>(a.value()) && std::holds_alternative<float>(b.value()))
    return compare(a.get<float>(), b.get<float>());
  if (std::holds_alternative<double>(a.value()) && std::holds_alternative<double>(b.value()))
    return compare(a.get<double>(), b.get<double>());
  return a.Compare(b);
}

bool BoundPredicate::Test(const Literal& value) const {
  if (op == PredicateOp::kIsNull) return value.is_null();
  if (op == PredicateOp::kNotNan) return !IsNan(value);
  if (value.is_null()) return false;
  switch (op) {
    case PredicateOp::kNotNull:
      return true;
    case PredicateOp::kIsNan:
      return IsNan(value);
    case PredicateOp::kEq:
      return CompareForFilter(value, literals[0]) == 0;
    case PredicateOp::kNotEq:
      return CompareForFilter(value, literals[0]) != 0;
    case PredicateOp::kLt:
      return CompareForFilter(value, literals[0]) < 0;
    case PredicateOp::kLtEq:
      return CompareForFilter(value, literals[0]) <= 0;
    case PredicateOp::kGt:
      return CompareForFilter(value, literals[0]) > 0;
    case PredicateOp::kGtEq:
      return CompareForFilter(value, literals[0]) >= 0;
    case PredicateOp::kIn:
      return Contains(literals, value);
    case PredicateOp::kNotIn:
      return !Contains(literals, value);
    case PredicateOp::kStartsWith:
      return value.get<std::string>().starts_with(literals[0].get<std::string>());
    case PredicateOp::kNotStartsWith:
      return !value.get<std::string>().starts_with(literals[0].get<std::string>());
    default:
      return false;
  }
}

FilterPtr Filter::True() {
  static const FilterPtr kTrue = std::make_shared<const Filter>(Kind::kTrue);
  return kTrue;
}

FilterPtr Filter::False() {
  static const FilterPtr kFalse = std::make_shared<const Filter>(Kind::kFalse);
  return kFalse;
}

FilterPtr Filter::And(FilterPtr left, FilterPtr right) {
  if (left->kind() == Kind::kFalse || right->kind() == Kind::kTrue) return left;
  if (left->kind() == Kind::kTrue || right->kind() == Kind::kFalse) return right;
  auto filter = std::make_shared<Filter>(Kind::kAnd);
  filter->left_ = std::move(left);
  filter->right_ = std::move(right);
  return filter;
}

FilterPtr Filter::Or(FilterPtr left, FilterPtr right) {
  if (left->kind() == Kind::kTrue || right->kind() == Kind::kFalse) return left;
  if (left->kind() == Kind::kFalse || right->kind() == Kind::kTrue) return right;
  auto filter = std::make_shared<Filter>(Kind::kOr);
  filter->left_ = std::move(left);
  filter->right_ = std::move(right);
  return filter;
}

FilterPtr Filter::Predicate(BoundPredicate predicate) {
  auto filter = std::make_shared<Filter>(Kind::kPredicate);
  filter->predicate_ = std::move(predicate);
  return filter;
}

bool Filter::Evaluate(const std::function<bool(const BoundPredicate&)>& test) const {
  switch (kind_) {
    case Kind::kTrue:
      return true;
    case Kind::kFalse:
      return false;
    case Kind::kAnd:
      return left_->Evaluate(test) && right_->Evaluate(test);
    case Kind::kOr:
      return left_->Evaluate(test) || right_->Evaluate(test);
    case Kind::kPredicate:
      return test(predicate_);
  }
  return true;
}

std::vector<int32_t> Filter::FieldIds() const {
  std::set<int32_t> ids;
  const auto collect = [&ids](const auto& self, const Filter& filter) -> void {
    if (filter.kind() == Kind::kPredicate) ids.insert(filter.predicate().field_id);
    if (filter.left()) self(self, *filter.left());
    if (filter.right()) self(self, *filter.right());
  };
  collect(collect, *this);
  return {ids.begin(), ids.end()};
}

std::string Filter::ToString() const {
  switch (kind_) {
    case Kind::kTrue:
      return "TRUE";
    case Kind::kFalse:
      return "FALSE";
    case Kind::kAnd:
      return fmt::format("({} AND {})", left_->ToString(), right_->ToString());
    case Kind::kOr:
      return fmt::format("({} OR {})", left_->ToString(), right_->ToString());
    case Kind::kPredicate:
      return PredicateText(predicate_);
  }
  return "";
}

}  // namespace firn::iceberg
