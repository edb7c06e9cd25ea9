#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "firn/iceberg/model/expression.h"
#include "firn/iceberg/model/field_text.h"
#include "firn/iceberg/model/filter_token.h"
#include "firn/iceberg/model/filter_value.h"
#include "firn/iceberg/model/predicate_order.h"

namespace firn::iceberg {

namespace {

using Place = PlacedValue::Place;

constexpr int kMaxNesting = 100;

PredicateOp Negated(PredicateOp op) {
  switch (op) {
    case PredicateOp::kIsNull:
      return PredicateOp::kNotNull;
    case PredicateOp::kNotNull:
      return PredicateOp::kIsNull;
    case PredicateOp::kIsNan:
      return PredicateOp::kNotNan;
    case PredicateOp::kNotNan:
      return PredicateOp::kIsNan;
    case PredicateOp::kEq:
      return PredicateOp::kNotEq;
    case PredicateOp::kNotEq:
      return PredicateOp::kEq;
    case PredicateOp::kLt:
      return PredicateOp::kGtEq;
    case PredicateOp::kLtEq:
      return PredicateOp::kGt;
    case PredicateOp::kGt:
      return PredicateOp::kLtEq;
    case PredicateOp::kGtEq:
      return PredicateOp::kLt;
    case PredicateOp::kIn:
      return PredicateOp::kNotIn;
    case PredicateOp::kNotIn:
      return PredicateOp::kIn;
    case PredicateOp::kStartsWith:
      return PredicateOp::kNotStartsWith;
    case PredicateOp::kNotStartsWith:
      return PredicateOp::kStartsWith;
  }
  return op;
}

/// The operator with its sides exchanged: `5 < a` is `a > 5`.
PredicateOp Mirrored(PredicateOp op) {
  switch (op) {
    case PredicateOp::kLt:
      return PredicateOp::kGt;
    case PredicateOp::kLtEq:
      return PredicateOp::kGtEq;
    case PredicateOp::kGt:
      return PredicateOp::kLt;
    case PredicateOp::kGtEq:
      return PredicateOp::kLtEq;
    default:
      return op;
  }
}

struct Column {
  int32_t field_id = 0;
  std::string name;
  TypePtr type;
  size_t at = 0;
};

FilterPtr Test(const Column& column, PredicateOp op, std::vector<Literal> literals = {}) {
  return Filter::Predicate({op, column.field_id, column.name, column.type, std::move(literals)});
}

/// True for every value but null, and its opposite for every row: what a comparison with a value outside the
/// type comes to.
FilterPtr Decided(const Column& column, bool holds) {
  return holds ? Test(column, PredicateOp::kNotNull) : Filter::False();
}

FilterPtr Compare(const Column& column, PredicateOp op, const PlacedValue& value) {
  const bool is_less = op == PredicateOp::kLt || op == PredicateOp::kLtEq;
  const bool is_equality = op == PredicateOp::kEq || op == PredicateOp::kNotEq;
  if (value.place == Place::kExact) return Test(column, op, {*value.literal});
  if (is_equality) return Decided(column, op == PredicateOp::kNotEq);
  if (value.place == Place::kBeyondMax) return Decided(column, is_less);
  if (value.place == Place::kBelowMin) return Decided(column, !is_less);
  return Test(column, is_less ? PredicateOp::kLtEq : PredicateOp::kGt, {*value.literal});
}

/// A balanced tree, so that a long chain of ORs does not nest deeply.
template <typename Join>
FilterPtr Combine(const std::vector<FilterPtr>& parts, size_t begin, size_t end, Join join) {
  if (end - begin == 1) return parts[begin];
  const size_t middle = begin + (end - begin) / 2;
  return join(Combine(parts, begin, middle, join), Combine(parts, middle, end, join));
}

FilterPtr All(const std::vector<FilterPtr>& parts) { return Combine(parts, 0, parts.size(), Filter::And); }
FilterPtr Any(const std::vector<FilterPtr>& parts) { return Combine(parts, 0, parts.size(), Filter::Or); }

/// Recursive descent; `negated` carries a NOT down to the predicates.
class FilterParser {
 public:
  FilterParser(std::vector<Token> tokens, const Schema& schema)
      : tokens_(std::move(tokens)), schema_(schema) {}

  Result<FilterPtr> Parse() {
    FIRN_ASSIGN(FilterPtr filter, ParseOr(false, 0));
    if (Peek().kind != TokenKind::kEnd) return Unexpected("AND, OR or the end");
    return filter;
  }

 private:
  const Token& Peek(size_t ahead = 0) const { return tokens_[std::min(next_ + ahead, tokens_.size() - 1)]; }
  Token Take() { return tokens_[std::min(next_++, tokens_.size() - 1)]; }
  bool IsKeyword(std::string_view word, size_t ahead = 0) const {
    return Peek(ahead).kind == TokenKind::kName && Peek(ahead).upper == word;
  }
  bool IsSymbol(std::string_view symbol, size_t ahead = 0) const {
    return Peek(ahead).kind == TokenKind::kSymbol && Peek(ahead).text == symbol;
  }
  bool TakeKeyword(std::string_view word) {
    const bool found = IsKeyword(word);
    if (found) ++next_;
    return found;
  }
  bool TakeSymbol(std::string_view symbol) {
    const bool found = IsSymbol(symbol);
    if (found) ++next_;
    return found;
  }

  Error Unexpected(std::string_view expected) const {
    const Token& token = Peek();
    if (token.kind == TokenKind::kEnd)
      return FilterError(token.at, fmt::format("the filter ends where {} is expected", expected));
    return FilterError(token.at, fmt::format("{} is expected, not '{}'", expected, token.text));
  }

  Result<FilterPtr> ParseOr(bool negated, int depth) {
    if (depth > kMaxNesting)
      return FilterError(Peek().at, fmt::format("nested deeper than {} levels", kMaxNesting));
    std::vector<FilterPtr> parts;
    do {
      FIRN_ASSIGN(FilterPtr part, ParseAnd(negated, depth));
      parts.push_back(std::move(part));
    } while (TakeKeyword("OR"));
    return negated ? All(parts) : Any(parts);
  }

  Result<FilterPtr> ParseAnd(bool negated, int depth) {
    std::vector<FilterPtr> parts;
    do {
      FIRN_ASSIGN(FilterPtr part, ParseNot(negated, depth));
      parts.push_back(std::move(part));
    } while (TakeKeyword("AND"));
    return negated ? Any(parts) : All(parts);
  }

  Result<FilterPtr> ParseNot(bool negated, int depth) {
    while (TakeKeyword("NOT")) negated = !negated;
    if (TakeSymbol("(")) {
      FIRN_ASSIGN(FilterPtr inner, ParseOr(negated, depth + 1));
      if (!TakeSymbol(")")) return Unexpected("')'");
      return inner;
    }
    if ((IsKeyword("TRUE") || IsKeyword("FALSE")) && !IsComparison(1))
      return Take().upper == (negated ? "FALSE" : "TRUE") ? Filter::True() : Filter::False();
    return ParsePredicate(negated);
  }

  bool IsComparison(size_t ahead) const {
    static constexpr std::array<std::string_view, 8> kSymbols = {"=", "==", "!=", "<>", "<", "<=", ">", ">="};
    return Peek(ahead).kind == TokenKind::kSymbol &&
           std::ranges::find(kSymbols, Peek(ahead).text) != kSymbols.end();
  }

  bool IsValue() const {
    const Token& token = Peek();
    if (token.kind == TokenKind::kText || token.kind == TokenKind::kNumber || token.kind == TokenKind::kBytes)
      return true;
    if (token.kind != TokenKind::kName) return false;
    const bool typed = (token.upper == "DATE" || token.upper == "TIME" || token.upper == "TIMESTAMP") &&
                       Peek(1).kind == TokenKind::kText;
    return typed || token.upper == "TRUE" || token.upper == "FALSE" || token.upper == "NAN";
  }

  Result<Token> TakeValue() {
    if (IsKeyword("NULL"))
      return FilterError(Peek().at, "a comparison with NULL is never true; write IS NULL or IS NOT NULL");
    if (!IsValue()) return Unexpected("a value");
    if (Peek(1).kind == TokenKind::kText && Peek().kind == TokenKind::kName) ++next_;
    return Take();
  }

  PredicateOp TakeComparison() {
    const std::string symbol = Take().text;
    if (symbol == "=" || symbol == "==") return PredicateOp::kEq;
    if (symbol == "!=" || symbol == "<>") return PredicateOp::kNotEq;
    if (symbol == "<") return PredicateOp::kLt;
    if (symbol == "<=") return PredicateOp::kLtEq;
    return symbol == ">" ? PredicateOp::kGt : PredicateOp::kGtEq;
  }

  Result<Column> TakeColumn() {
    Column column;
    column.at = Peek().at;
    do {
      if (Peek().kind != TokenKind::kName && Peek().kind != TokenKind::kQuotedName)
        return Unexpected("a column");
      if (!column.name.empty()) column.name += '.';
      column.name += Take().text;
    } while (TakeSymbol("."));
    const NestedField* field = schema_.FindByName(column.name);
    if (field == nullptr)
      return FilterError(column.at, fmt::format("there is no column '{}'.{}", column.name,
                                                ColumnSuggestion(column.name, schema_)));
    if (!field->type->is_primitive()) {
      return FilterError(column.at,
                         fmt::format("column '{}' is a {}; only columns of primitive types can be compared",
                                     column.name, field->type->ToString()));
    }
    for (const int32_t parent : schema_.AncestorIds(field->id)) {
      if (schema_.FindById(parent)->type->id() == TypeId::kStruct) continue;
      return FilterError(
          column.at,
          fmt::format("column '{}' is inside a list or map and has no single value in a row", column.name));
    }
    column.field_id = field->id;
    column.type = field->type;
    return column;
  }

  Result<FilterPtr> ParsePredicate(bool negated) {
    if (IsValue()) return ParseMirrored(negated);
    FIRN_ASSIGN(const Column column, TakeColumn());
    if (IsComparison(0)) {
      const PredicateOp op = TakeComparison();
      FIRN_ASSIGN(const Token value, TakeValue());
      return Bind(column, negated ? Negated(op) : op, value);
    }
    if (TakeKeyword("IS")) return ParseIs(column, negated);
    if (TakeKeyword("NOT")) {
      if (!IsKeyword("IN") && !IsKeyword("BETWEEN") && !IsKeyword("LIKE"))
        return Unexpected("IN, BETWEEN or LIKE");
      negated = !negated;
    }
    if (TakeKeyword("IN")) return ParseIn(column, negated);
    if (TakeKeyword("BETWEEN")) return ParseBetween(column, negated);
    if (TakeKeyword("LIKE")) return ParseLike(column, negated);
    if (column.type->id() == TypeId::kBoolean)
      return Test(column, PredicateOp::kEq, {Literal(column.type, !negated)});
    return Unexpected("a comparison, IS, IN, BETWEEN or LIKE");
  }

  Result<FilterPtr> ParseMirrored(bool negated) {
    FIRN_ASSIGN(const Token value, TakeValue());
    if (!IsComparison(0)) return Unexpected("a comparison");
    const PredicateOp op = Mirrored(TakeComparison());
    if (IsValue()) return FilterError(Peek().at, "one side of a comparison must be a column");
    FIRN_ASSIGN(const Column column, TakeColumn());
    return Bind(column, negated ? Negated(op) : op, value);
  }

  static Result<FilterPtr> Bind(const Column& column, PredicateOp op, const Token& value) {
    FIRN_ASSIGN(const PlacedValue placed, PlaceValue(value, column.type));
    return Compare(column, op, placed);
  }

  Result<FilterPtr> ParseIs(const Column& column, bool negated) {
    if (TakeKeyword("NOT")) negated = !negated;
    if (TakeKeyword("NULL")) return Test(column, negated ? PredicateOp::kNotNull : PredicateOp::kIsNull);
    if (!TakeKeyword("NAN")) return Unexpected("NULL or NAN");
    if (column.type->id() != TypeId::kFloat && column.type->id() != TypeId::kDouble) {
      return FilterError(
          column.at, fmt::format("column '{}' of type {} has no NaN", column.name, column.type->ToString()));
    }
    return Test(column, negated ? PredicateOp::kNotNan : PredicateOp::kIsNan);
  }

  Result<FilterPtr> ParseIn(const Column& column, bool negated) {
    if (!TakeSymbol("(")) return Unexpected("'('");
    std::vector<Literal> literals;
    do {
      FIRN_ASSIGN(const Token value, TakeValue());
      FIRN_ASSIGN(const PlacedValue placed, PlaceValue(value, column.type));
      if (placed.place == Place::kExact) literals.push_back(*placed.literal);
    } while (TakeSymbol(","));
    if (!TakeSymbol(")")) return Unexpected("',' or ')'");
    if (literals.empty()) return Decided(column, negated);
    std::ranges::sort(literals,
                      [](const Literal& a, const Literal& b) { return CompareForFilter(a, b) < 0; });
    const auto same = [](const Literal& a, const Literal& b) { return CompareForFilter(a, b) == 0; };
    literals.erase(std::unique(literals.begin(), literals.end(), same), literals.end());
    return Test(column, negated ? PredicateOp::kNotIn : PredicateOp::kIn, std::move(literals));
  }

  Result<FilterPtr> ParseBetween(const Column& column, bool negated) {
    FIRN_ASSIGN(const Token low, TakeValue());
    if (!TakeKeyword("AND")) return Unexpected("AND");
    FIRN_ASSIGN(const Token high, TakeValue());
    FIRN_ASSIGN(FilterPtr from, Bind(column, negated ? PredicateOp::kLt : PredicateOp::kGtEq, low));
    FIRN_ASSIGN(FilterPtr to, Bind(column, negated ? PredicateOp::kGt : PredicateOp::kLtEq, high));
    return negated ? Filter::Or(from, to) : Filter::And(from, to);
  }

  Result<FilterPtr> ParseLike(const Column& column, bool negated) {
    if (column.type->id() != TypeId::kString) {
      return FilterError(column.at, fmt::format("LIKE takes a string column, '{}' is of type {}", column.name,
                                                column.type->ToString()));
    }
    const Token pattern = Take();
    if (pattern.kind != TokenKind::kText)
      return FilterError(pattern.at, "a quoted pattern is expected after LIKE");
    std::string prefix;
    bool is_prefix = false;
    for (size_t i = 0; i < pattern.text.size(); ++i) {
      const char c = pattern.text[i];
      const bool is_last = i + 1 == pattern.text.size();
      if (c == '\\' && !is_last) {
        prefix.push_back(pattern.text[++i]);
      } else if (c == '%' && is_last) {
        is_prefix = true;
      } else if (c == '%' || c == '_') {
        return FilterError(
            pattern.at,
            fmt::format(
                "LIKE understands one % at the end ('prefix%'), not '{}'; \\% and \\_ stand for themselves",
                pattern.text));
      } else {
        prefix.push_back(c);
      }
    }
    PredicateOp op = is_prefix ? PredicateOp::kStartsWith : PredicateOp::kEq;
    if (negated) op = Negated(op);
    return Test(column, op, {Literal(column.type, std::move(prefix))});
  }

  std::vector<Token> tokens_;
  const Schema& schema_;
  size_t next_ = 0;
};

}  // namespace

Result<FilterPtr> ParseFilter(std::string_view text, const Schema& schema) {
  FIRN_ASSIGN(std::vector<Token> tokens, TokenizeFilter(text));
  return FilterParser(std::move(tokens), schema).Parse();
}

}  // namespace firn::iceberg
