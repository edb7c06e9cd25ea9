#include "firn/decode/json/infer_value.h"

#include <fmt/format.h>

#include <limits>
#include <string>

#include "firn/decode/number.h"

namespace firn::decode {

namespace {

std::string Text(const NumberText& number) {
  constexpr ptrdiff_t kMost = 40;
  return {number.begin, std::min(number.end, number.begin + kMost)};
}

InferredType InferNumber(const NumberText& number) {
  if (number.is_integer_form) {
    int64_t value = 0;
    constexpr auto kLimits = std::numeric_limits<int64_t>();
    if (ToInteger(number, kLimits.min(), kLimits.max(), &value) == NumberOutcome::kOk) {
      return InferredType::Of(InferredKind::kLong);
    }
    return InferredType::Conflict(fmt::format("{} is beyond long", Text(number)));
  }
  double value = 0;
  if (ToDouble(number, &value) == NumberOutcome::kOk) return InferredType::Of(InferredKind::kDouble);
  return InferredType::Conflict(fmt::format("{} is beyond double", Text(number)));
}

std::optional<InferredType> InferString(Walker& walker) {
  std::string_view text;
  if (!walker.ReadString(walker.Take(), &text)) return std::nullopt;
  return InferredType::OfText(text);
}

std::optional<InferredType> InferObject(Walker& walker, int depth) {
  InferredType type;
  if (walker.TakeIf('}')) return type;
  type.kind = InferredKind::kStruct;
  if (!walker.Descend()) return std::nullopt;
  for (;;) {
    std::string_view key;
    if (walker.Peek() != '"' || !walker.ReadString(walker.Take(), &key)) return std::nullopt;
    const std::string name(key);
    if (!walker.TakeIf(':')) return std::nullopt;
    std::optional<InferredType> value = InferValue(walker, depth + 1);
    if (!value || walker.at_end()) return std::nullopt;
    type.SetField(name, std::move(*value));
    const uint8_t token = *walker.Take();
    if (token == '}') break;
    if (token != ',') return std::nullopt;
  }
  walker.Ascend();
  return type;
}

std::optional<InferredType> InferArray(Walker& walker, int depth) {
  InferredType type;
  if (walker.TakeIf(']')) return type;
  type.kind = InferredKind::kList;
  type.element = std::make_unique<InferredType>();
  if (!walker.Descend()) return std::nullopt;
  for (;;) {
    std::optional<InferredType> value = InferValue(walker, depth + 1);
    if (!value || walker.at_end()) return std::nullopt;
    type.element->Merge(*value);
    const uint8_t token = *walker.Take();
    if (token == ']') break;
    if (token != ',') return std::nullopt;
  }
  walker.Ascend();
  return type;
}

}  // namespace

std::optional<InferredType> InferValue(Walker& walker, int depth) {
  const uint8_t first = walker.Peek();
  if (first == '{' || first == '[') {
    if (depth < kMaxInferredDepth) {
      walker.Take();
      return first == '{' ? InferObject(walker, depth) : InferArray(walker, depth);
    }
    if (walker.SkipValue() == nullptr) return std::nullopt;
    return InferredType::Conflict(fmt::format("nested deeper than {}", kMaxInferredDepth));
  }
  const uint8_t* token = walker.next();
  if (first == '"') return InferString(walker);
  if (walker.SkipValue() == nullptr) return std::nullopt;
  switch (first) {
    case 't':
    case 'f':
      return InferredType::Of(InferredKind::kBoolean);
    case 'n':
      return InferredType();
    default:
      NumberText number;
      ScanNumber(token, &number);
      return InferNumber(number);
  }
}

}  // namespace firn::decode
