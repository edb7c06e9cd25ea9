#include "firn/iceberg/model/metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "firn/base/bytes.h"
#include "firn/iceberg/model/property.h"

namespace firn::iceberg {

namespace {

constexpr uint32_t kMaxCodePoint = 0x10FFFF;
constexpr uint32_t kSurrogatesBegin = 0xD800;
constexpr uint32_t kSurrogatesEnd = 0xE000;

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

uint32_t DecodeOne(std::string_view utf8) {
  const auto lead = static_cast<uint8_t>(utf8.front());
  uint32_t value = utf8.size() == 1 ? lead : lead & (0x7FU >> utf8.size());
  for (const char c : utf8.substr(1)) value = (value << 6) | (static_cast<uint8_t>(c) & 0x3FU);
  return value;
}

std::string EncodeOne(uint32_t code_point) {
  const auto byte = [](uint32_t value) { return static_cast<char>(value); };
  const auto tail = [&](int shift) { return byte(0x80 | ((code_point >> shift) & 0x3F)); };
  if (code_point < 0x80) return {byte(code_point)};
  if (code_point < 0x800) return {byte(0xC0 | (code_point >> 6)), tail(0)};
  if (code_point < 0x10000) return {byte(0xE0 | (code_point >> 12)), tail(6), tail(0)};
  return {byte(0xF0 | (code_point >> 18)), tail(12), tail(6), tail(0)};
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

/// Ids of the first `limit` primitive columns: those of one level before those nested below it.
void TakeFirst(const Type& type, size_t limit, std::set<int32_t>& ids) {
  for (const NestedField& field : type.fields()) {
    if (ids.size() >= limit) return;
    if (field.type->is_primitive()) ids.insert(field.id);
  }
  for (const NestedField& field : type.fields()) TakeFirst(*field.type, limit, ids);
}

size_t CountColumns(const Schema& schema) {
  size_t count = 0;
  VisitFields(*schema.as_struct(),
              [&count](const NestedField& field) { count += field.type->id() == TypeId::kStruct ? 0 : 1; });
  return count;
}

template <typename T>
std::optional<Literal> FloatBound(const Literal& value, T zero) {
  const T number = value.get<T>();
  if (std::isnan(number)) return std::nullopt;
  return Literal(value.type(), number == 0 ? zero : number);
}

/// The value as a bound before truncation; `lower` decides the sign of a zero.
std::optional<Literal> Usable(const Literal& value, MetricsMode mode, bool lower) {
  if (!mode.has_bounds() || value.is_null()) return std::nullopt;
  switch (value.type()->id()) {
    case TypeId::kFloat:
      return FloatBound<float>(value, lower ? -0.0F : 0.0F);
    case TypeId::kDouble:
      return FloatBound<double>(value, lower ? -0.0 : 0.0);
    case TypeId::kVariant:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return std::nullopt;
    default:
      return value;
  }
}

std::optional<std::string> Bytes(const std::optional<Literal>& value) {
  if (!value) return std::nullopt;
  Result<std::string> bytes = value->ToBytes();
  return bytes.ok() ? std::optional(std::move(bytes).value()) : std::nullopt;
}

}  // namespace

Result<MetricsMode> ParseMetricsMode(std::string_view text) {
  const std::string lower = Lower(text);
  if (lower == "none") return MetricsMode{MetricsMode::Kind::kNone, 0};
  if (lower == "counts") return MetricsMode{MetricsMode::Kind::kCounts, 0};
  if (lower == "full") return MetricsMode{MetricsMode::Kind::kFull, 0};
  constexpr std::string_view kTruncate = "truncate(";
  if (lower.starts_with(kTruncate) && lower.ends_with(')')) {
    int32_t length = 0;
    const char* end = lower.data() + lower.size() - 1;
    const auto [stop, error] = std::from_chars(lower.data() + kTruncate.size(), end, length);
    if (error == std::errc() && stop == end && length > 0)
      return MetricsMode{MetricsMode::Kind::kTruncate, length};
  }
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("metrics mode '{}' is none of none, counts, truncate(n) and full", text));
}

MetricsConfig MetricsConfig::Resolve(const std::map<std::string, std::string>& properties,
                                     const Schema& schema, const SortOrder& order) {
  MetricsConfig config;
  const Result<int32_t> inferred = GetProperty(properties, property::kMetricsMaxInferredColumns);
  const int32_t limit =
      inferred.ok() && *inferred >= 0 ? *inferred : property::kMetricsMaxInferredColumns.default_value;
  if (const auto text = FindProperty(properties, property::kMetricsDefault)) {
    const Result<MetricsMode> mode = ParseMetricsMode(*text);
    if (mode.ok()) config.default_mode_ = *mode;
  } else if (CountColumns(schema) > static_cast<size_t>(limit)) {
    config.default_mode_ = MetricsMode{MetricsMode::Kind::kNone, 0};
    std::set<int32_t> first;
    TakeFirst(*schema.as_struct(), static_cast<size_t>(limit), first);
    for (const int32_t id : first) config.modes_[id] = MetricsMode{};
  }
  for (const SortField& field : order.fields) {
    if (!field.transform.preserves_order()) continue;
    config.modes_[field.source_id] = config.default_mode_.has_bounds() ? config.default_mode_ : MetricsMode{};
  }
  const std::string_view prefix = property::kMetricsColumnPrefix;
  for (auto it = properties.lower_bound(std::string(prefix));
       it != properties.end() && it->first.starts_with(prefix); ++it) {
    const NestedField* field = schema.FindByName(std::string_view(it->first).substr(prefix.size()));
    const Result<MetricsMode> mode = ParseMetricsMode(it->second);
    if (field != nullptr) config.modes_[field->id] = mode.ok() ? *mode : config.default_mode_;
  }
  return config;
}

MetricsMode MetricsConfig::ModeOf(int32_t field_id) const {
  const auto it = modes_.find(field_id);
  return it == modes_.end() ? default_mode_ : it->second;
}

std::optional<std::string> LowerBound(const Literal& min, MetricsMode mode) {
  std::optional<std::string> bytes = Bytes(Usable(min, mode, /*lower=*/true));
  if (!bytes || mode.kind == MetricsMode::Kind::kFull) return bytes;
  const TypeId id = min.type()->id();
  if (id == TypeId::kString) return std::string(TruncateCodePoints(*bytes, mode.length));
  if (id == TypeId::kBinary) return bytes->substr(0, static_cast<size_t>(mode.length));
  return bytes;
}

std::optional<std::string> UpperBound(const Literal& max, MetricsMode mode) {
  std::optional<std::string> bytes = Bytes(Usable(max, mode, /*lower=*/false));
  if (!bytes || mode.kind == MetricsMode::Kind::kFull) return bytes;
  const TypeId id = max.type()->id();
  if (id == TypeId::kString) return TruncateTextUp(*bytes, mode.length);
  if (id == TypeId::kBinary) return TruncateBytesUp(*bytes, mode.length);
  return bytes;
}

std::string_view TruncateCodePoints(std::string_view utf8, int32_t code_points) {
  size_t end = 0;
  for (int32_t taken = 0; end < utf8.size(); ++end) {
    if (!IsContinuation(utf8[end]) && taken++ == code_points) break;
  }
  return utf8.substr(0, end);
}

std::optional<std::string> TruncateTextUp(std::string_view utf8, int32_t code_points) {
  std::string_view prefix = TruncateCodePoints(utf8, code_points);
  if (prefix.size() == utf8.size()) return std::string(utf8);
  while (!prefix.empty()) {
    size_t start = prefix.size() - 1;
    while (start > 0 && IsContinuation(prefix[start])) --start;
    if (!IsValidUtf8(prefix.substr(start))) return std::nullopt;
    uint32_t next = DecodeOne(prefix.substr(start)) + 1;
    if (next == kSurrogatesBegin) next = kSurrogatesEnd;
    prefix = prefix.substr(0, start);
    if (next <= kMaxCodePoint) return std::string(prefix) + EncodeOne(next);
  }
  return std::nullopt;
}

std::optional<std::string> TruncateBytesUp(std::string_view bytes, int32_t length) {
  if (bytes.size() <= static_cast<size_t>(length)) return std::string(bytes);
  std::string prefix(bytes.substr(0, static_cast<size_t>(length)));
  while (!prefix.empty()) {
    const auto last = static_cast<uint8_t>(prefix.back());
    if (last != 0xFF) {
      prefix.back() = static_cast<char>(last + 1);
      return prefix;
    }
    prefix.pop_back();
  }
  return std::nullopt;
}

}  // namespace firn::iceberg
