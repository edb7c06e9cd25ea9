#include "firn/pipeline/column_hints.h"

#include <array>
#include <cctype>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/time.h"

namespace firn::pipeline {

namespace {

using nlohmann::ordered_json;
using Values = std::vector<const ordered_json*>;

constexpr int64_t kYear2000Seconds = 946'684'800;
constexpr int64_t kYear2100Seconds = 4'102'444'800;
constexpr double kCents = 100;
constexpr double kCentsTolerance = 1e-6;

Values ValuesOf(const std::string& column, const std::vector<ordered_json>& rows) {
  Values values;
  for (const ordered_json& row : rows) {
    const auto at = row.find(column);
    if (at != row.end() && !at->is_null()) values.push_back(&*at);
  }
  return values;
}

bool All(const Values& values, const std::function<bool(const ordered_json&)>& holds) {
  for (const ordered_json* value : values)
    if (!holds(*value)) return false;
  return true;
}

bool AllTexts(const Values& values, const std::function<bool(const std::string&)>& holds) {
  return All(values, [&](const ordered_json& value) {
    return value.is_string() && holds(value.get_ref<const std::string&>());
  });
}

bool IsDate(const std::string& text) {
  int32_t days = 0;
  return ParseDate(text, &days) == TimeParse::kOk;
}

bool IsUuid(const std::string& text) {
  constexpr size_t kLength = 36;
  if (text.size() != kLength) return false;
  for (size_t i = 0; i < kLength; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : std::isxdigit(static_cast<unsigned char>(text[i])) == 0) return false;
  }
  return true;
}

bool IsWholeNumber(const std::string& text) {
  constexpr size_t kMostDigits = 18;
  const size_t begin = text.starts_with('-') ? 1 : 0;
  const size_t digits = text.size() - begin;
  if (digits == 0 || digits > kMostDigits || (digits > 1 && text[begin] == '0')) return false;
  return text.find_first_not_of("0123456789", begin) == std::string::npos;
}

/// `timestamptz` when each has an offset, `timestamp` when none has; empty when they are mixed or something
/// else.
std::string TimestampType(const Values& values) {
  size_t with_offset = 0;
  const bool all = AllTexts(values, [&](const std::string& text) {
    int64_t micros = 0;
    bool has_offset = false;
    const TimeParse parsed = ParseTimestampMicros(text, &micros, &has_offset);
    with_offset += has_offset ? 1 : 0;
    return parsed == TimeParse::kOk;
  });
  if (!all) return "";
  if (with_offset == values.size()) return "timestamptz";
  return with_offset == 0 ? "timestamp" : "";
}

std::optional<ColumnHint> HintOfText(const std::string& column, const Values& values) {
  if (const std::string type = TimestampType(values); !type.empty())
    return ColumnHint{column, "every value of the sample is a timestamp", type, ""};
  if (AllTexts(values, IsDate)) return ColumnHint{column, "every value of the sample is a date", "date", ""};
  if (AllTexts(values, IsUuid)) return ColumnHint{column, "every value of the sample is a UUID", "uuid", ""};
  if (AllTexts(values, IsWholeNumber)) {
    return ColumnHint{column,
                      "every value of the sample is a whole number written as text; kept as text unless the "
                      "records change",
                      "", ""};
  }
  return std::nullopt;
}

bool SoundsLikeTime(const std::string& column) {
  std::string lower;
  for (const char c : column) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view word : {"time", "date", "ts", "_at", "epoch", "when"})
    if (lower.find(word) != std::string::npos) return true;
  return false;
}

std::optional<ColumnHint> HintOfWholeNumber(const std::string& column, const Values& values) {
  struct Unit {
    const char* name;
    int64_t per_second;
  };
  constexpr std::array<Unit, 4> kUnits = {
      {{"seconds", 1}, {"millis", 1'000}, {"micros", 1'000'000}, {"nanos", 1'000'000'000}}};
  for (const Unit& unit : kUnits) {
    // Whole numbers around 10^9 are common; only a name makes them seconds.
    if (unit.per_second == 1 && !SoundsLikeTime(column)) continue;
    const bool all = All(values, [&](const ordered_json& value) {
      if (!value.is_number_integer()) return false;
      const int64_t seconds = value.get<int64_t>() / unit.per_second;
      return seconds >= kYear2000Seconds && seconds < kYear2100Seconds;
    });
    if (all) {
      return ColumnHint{column,
                        fmt::format("every value of the sample would be a time in {} since 1970", unit.name),
                        "timestamptz", unit.name};
    }
  }
  return std::nullopt;
}

std::optional<ColumnHint> HintOfFraction(const std::string& column, const Values& values) {
  const bool cents = All(values, [](const ordered_json& value) {
    if (!value.is_number()) return false;
    const double scaled = value.get<double>() * kCents;
    return std::abs(scaled - std::round(scaled)) < kCentsTolerance;
  });
  if (!cents) return std::nullopt;
  return ColumnHint{
      column,
      "no value of the sample has more than two decimals; an amount of money is kept exactly as a decimal",
      "decimal(18, 2)", ""};
}

std::optional<ColumnHint> HintOf(const iceberg::NestedField& field, const Values& values) {
  switch (field.type->id()) {
    case iceberg::TypeId::kString:
      return HintOfText(field.name, values);
    case iceberg::TypeId::kLong:
      return HintOfWholeNumber(field.name, values);
    case iceberg::TypeId::kDouble:
      return HintOfFraction(field.name, values);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::vector<ColumnHint> HintsOf(const iceberg::Schema& schema, const std::vector<ordered_json>& rows) {
  std::vector<ColumnHint> hints;
  for (const iceberg::NestedField& field : schema.fields()) {
    const Values values = ValuesOf(field.name, rows);
    if (values.size() < kLeastValues) continue;
    if (std::optional<ColumnHint> hint = HintOf(field, values)) hints.push_back(std::move(*hint));
  }
  return hints;
}

}  // namespace firn::pipeline
