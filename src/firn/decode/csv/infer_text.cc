#include "firn/decode/csv/infer_text.h"

#include <limits>

#include "firn/decode/number.h"

namespace firn::decode {

namespace {

InferredKind KindOf(std::string_view text) {
  if (EqualsIgnoringCase(text, "true") || EqualsIgnoringCase(text, "false")) return InferredKind::kBoolean;
  NumberText number;
  const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
  if (text.empty() || !ScanNumber(begin, &number) || number.end != begin + text.size())
    return InferredType::OfText(text).kind;
  if (!number.is_integer_form) {
    double value = 0;
    return ToDouble(number, &value) == NumberOutcome::kOk ? InferredKind::kDouble : InferredKind::kString;
  }
  constexpr auto kLimits = std::numeric_limits<int64_t>();
  int64_t value = 0;
  return ToInteger(number, kLimits.min(), kLimits.max(), &value) == NumberOutcome::kOk
             ? InferredKind::kLong
             : InferredKind::kString;
}

}  // namespace

InferredType InferText(const CsvField& field) {
  if (field.is_null) return {};
  InferredType type = InferredType::Of(KindOf(field.text));
  type.from_text = true;
  return type;
}

}  // namespace firn::decode
