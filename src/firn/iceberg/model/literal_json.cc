#include "firn/iceberg/model/literal_json.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/bytes.h"
#include "firn/iceberg/model/json_access.h"

namespace firn::iceberg {

namespace {

using nlohmann::json;

Error Mismatch(const Type& type, const json& value) {
  return Error(ErrorKind::kCorrupt, fmt::format("a value of type {} cannot be read from JSON {}",
                                                type.ToString(), value.type_name()));
}

/// As Java writes it.
std::string UpperHex(std::string_view bytes) {
  std::string hex = HexEncode(bytes);
  for (char& c : hex) c = c >= 'a' ? static_cast<char>(c - 32) : c;
  return hex;
}

template <typename T>
Result<Literal> IntegerFromJson(const TypePtr& type, const json& value) {
  if (!value.is_number_integer()) return Mismatch(*type, value);
  const bool fits = value.is_number_unsigned()
                        ? value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<T>::max())
                        : value.get<int64_t>() >= std::numeric_limits<T>::min() &&
                              value.get<int64_t>() <= std::numeric_limits<T>::max();
  if (!fits)
    return Error(ErrorKind::kCorrupt,
                 fmt::format("{} is outside the range of {}", value.dump(), type->ToString()));
  return Literal(type, value.get<T>());
}

Result<Literal> TextFromJson(const TypePtr& type, const json& value) {
  if (!value.is_string()) return Mismatch(*type, value);
  Result<Literal> literal = Literal::Parse(type, value.get_ref<const std::string&>());
  if (!literal.ok()) return Error(ErrorKind::kCorrupt, literal.error().message());
  return literal;
}

}  // namespace

json ToJson(const Literal& literal) {
  if (literal.is_null()) return nullptr;
  switch (literal.type()->id()) {
    case TypeId::kBoolean:
      return literal.get<bool>();
    case TypeId::kInt:
      return literal.get<int32_t>();
    case TypeId::kLong:
      return literal.get<int64_t>();
    case TypeId::kFloat:
      return literal.get<float>();
    case TypeId::kDouble:
      return literal.get<double>();
    case TypeId::kFixed:
    case TypeId::kBinary:
    case TypeId::kVariant:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return UpperHex(literal.get<std::string>());
    default:
      return literal.ToHumanString();
  }
}

Result<Literal> LiteralFromJson(const TypePtr& type, const json& value) {
  if (value.is_null()) return Literal::Null(type);
  switch (type->id()) {
    case TypeId::kBoolean:
      if (!value.is_boolean()) return Mismatch(*type, value);
      return Literal(type, value.get<bool>());
    case TypeId::kInt:
      return IntegerFromJson<int32_t>(type, value);
    case TypeId::kLong:
      return IntegerFromJson<int64_t>(type, value);
    case TypeId::kFloat:
      if (!value.is_number()) return Mismatch(*type, value);
      return Literal(type, static_cast<float>(value.get<double>()));
    case TypeId::kDouble:
      if (!value.is_number()) return Mismatch(*type, value);
      return Literal(type, value.get<double>());
    default:
      return TextFromJson(type, value);
  }
}

}  // namespace firn::iceberg
