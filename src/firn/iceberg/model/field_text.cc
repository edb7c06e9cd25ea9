#include "firn/iceberg/model/field_text.h"

#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "firn/base/text_distance.h"

namespace firn::iceberg {

namespace {

constexpr std::array<std::pair<std::string_view, TransformKind>, 16> kFunctions = {{
    {"identity", TransformKind::kIdentity},
    {"bucket", TransformKind::kBucket},
    {"truncate", TransformKind::kTruncate},
    {"trunc", TransformKind::kTruncate},
    {"year", TransformKind::kYear},
    {"years", TransformKind::kYear},
    {"month", TransformKind::kMonth},
    {"months", TransformKind::kMonth},
    {"day", TransformKind::kDay},
    {"days", TransformKind::kDay},
    {"date", TransformKind::kDay},
    {"hour", TransformKind::kHour},
    {"hours", TransformKind::kHour},
    {"date_hour", TransformKind::kHour},
    {"void", TransformKind::kVoid},
    {"always_null", TransformKind::kVoid},
}};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

std::optional<TransformKind> FindFunction(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [known, kind] : kFunctions) {
    if (lower == known) return kind;
  }
  return std::nullopt;
}

std::optional<int32_t> ParseCount(std::string_view text) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Error Bad(std::string_view text, std::string_view why) {
  return Error(ErrorKind::kInvalidArgument, fmt::format("'{}': {}", text, why));
}

Result<TransformOfColumn> Resolve(std::string_view text, Transform transform, std::string_view column,
                                  const Schema& schema) {
  const NestedField* source = schema.FindByName(column);
  if (source == nullptr)
    return Bad(text, fmt::format("there is no column '{}'.{}", column, ColumnSuggestion(column, schema)));
  if (!transform.CanApply(*source->type)) {
    return Bad(text, fmt::format("{} does not take column '{}' of type {}", transform.ToString(), column,
                                 source->type->ToString()));
  }
  for (const int32_t parent : schema.AncestorIds(source->id)) {
    if (schema.FindById(parent)->type->id() != TypeId::kStruct) {
      return Bad(text, fmt::format("column '{}' is inside a list or map", column));
    }
  }
  return TransformOfColumn{std::move(transform), source, std::string(column)};
}

/// The number of `bucket(16, id)` or `bucket(id, 16)`; leaves the column's name in `column`.
std::optional<int32_t> SplitNumberAndColumn(std::string_view inside, std::string_view& column) {
  const size_t comma = inside.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const std::string_view first = Trim(inside.substr(0, comma));
  const std::string_view second = Trim(inside.substr(comma + 1));
  const std::optional<int32_t> leading = ParseCount(first);
  column = leading ? second : first;
  return leading ? leading : ParseCount(second);
}

Result<TransformOfColumn> ParseCall(std::string_view text, size_t open, const Schema& schema) {
  if (text.back() != ')') return Bad(text, "the closing parenthesis is missing");
  const std::string_view name = Trim(text.substr(0, open));
  const std::string_view inside = Trim(text.substr(open + 1, text.size() - open - 2));
  const std::optional<TransformKind> kind = FindFunction(name);
  if (!kind) {
    return Bad(
        text,
        fmt::format(
            "there is no transform '{}'; known are identity, bucket, truncate, year, month, day, hour, void",
            name));
  }
  if (*kind != TransformKind::kBucket && *kind != TransformKind::kTruncate)
    return Resolve(text, Transform::Of(*kind), inside, schema);
  std::string_view column;
  const std::optional<int32_t> number = SplitNumberAndColumn(inside, column);
  if (!number || *number < 1)
    return Bad(text, fmt::format("write it as {0}(N, column) with a positive N", name));
  return Resolve(text,
                 *kind == TransformKind::kBucket ? Transform::Bucket(*number) : Transform::Truncate(*number),
                 column, schema);
}

}  // namespace

std::string ColumnSuggestion(std::string_view name, const Schema& schema) {
  std::vector<std::string> names;
  VisitFields(*schema.as_struct(),
              [&](const NestedField& field) { names.push_back(schema.FullName(field.id)); });
  const std::optional<std::string> nearest = NearestName(name, names);
  return nearest ? fmt::format(" Did you mean '{}'?", *nearest) : "";
}

Result<TransformOfColumn> ParseTransformOfColumn(std::string_view text, const Schema& schema) {
  text = Trim(text);
  if (text.empty()) return Bad(text, "a column or a transform of one is expected");
  const size_t open = text.find('(');
  if (open == std::string_view::npos || schema.FindByName(text) != nullptr)
    return Resolve(text, Transform::Identity(), text, schema);
  return ParseCall(text, open, schema);
}

}  // namespace firn::iceberg
