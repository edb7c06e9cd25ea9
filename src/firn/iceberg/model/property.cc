#include "firn/iceberg/model/property.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace firn::iceberg {

namespace {

using Map = std::map<std::string, std::string>;

constexpr std::array<std::string_view, 9> kReserved = {"format-version",      "uuid",
                                                       "snapshot-count",      "current-snapshot-summary",
                                                       "current-snapshot-id", "current-snapshot-timestamp-ms",
                                                       "current-schema",      "default-partition-spec",
                                                       "default-sort-order"};

template <typename T>
Result<T> ParseInteger(const char* name, const std::string& text) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) {
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("table property {} = '{}' is not an integer in range", name, text));
  }
  return value;
}

template <typename T>
Result<T> GetInteger(const Map& properties, const PropertyOf<T>& property) {
  const auto it = properties.find(property.name);
  if (it == properties.end()) return property.default_value;
  return ParseInteger<T>(property.name, it->second);
}

}  // namespace

Result<int64_t> GetProperty(const Map& properties, const PropertyOf<int64_t>& property) {
  return GetInteger(properties, property);
}
Result<int32_t> GetProperty(const Map& properties, const PropertyOf<int32_t>& property) {
  return GetInteger(properties, property);
}

Result<bool> GetProperty(const Map& properties, const PropertyOf<bool>& property) {
  const auto it = properties.find(property.name);
  if (it == properties.end()) return property.default_value;
  std::string lower = it->second;
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (lower == "true") return true;
  if (lower == "false") return false;
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("table property {} = '{}' is neither true nor false", property.name, it->second));
}

std::string GetProperty(const Map& properties, const PropertyOf<const char*>& property) {
  const auto it = properties.find(property.name);
  return it == properties.end() ? property.default_value : it->second;
}

std::optional<std::string> FindProperty(const Map& properties, std::string_view name) {
  const auto it = properties.find(std::string(name));
  if (it == properties.end()) return std::nullopt;
  return it->second;
}

Result<std::optional<int32_t>> FindInt32Property(const Map& properties, const char* name) {
  const auto it = properties.find(name);
  if (it == properties.end()) return std::optional<int32_t>();
  FIRN_ASSIGN(const int32_t value, ParseInteger<int32_t>(name, it->second));
  return std::optional<int32_t>(value);
}

bool IsReservedProperty(std::string_view name) {
  return std::ranges::find(kReserved, name) != kReserved.end();
}

}  // namespace firn::iceberg
