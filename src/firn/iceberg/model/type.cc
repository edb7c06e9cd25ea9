#include "firn/iceberg/model/type.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "firn/base/check.h"
#include "firn/iceberg/model/literal.h"

namespace firn::iceberg {

namespace {

constexpr int32_t kMaxDecimalPrecision = 38;

constexpr std::array<std::pair<std::string_view, TypeId>, 16> kPlainTypes = {{
    {"boolean", TypeId::kBoolean},
    {"int", TypeId::kInt},
    {"long", TypeId::kLong},
    {"float", TypeId::kFloat},
    {"double", TypeId::kDouble},
    {"date", TypeId::kDate},
    {"time", TypeId::kTime},
    {"timestamp", TypeId::kTimestamp},
    {"timestamptz", TypeId::kTimestampTz},
    {"timestamp_ns", TypeId::kTimestampNs},
    {"timestamptz_ns", TypeId::kTimestampTzNs},
    {"string", TypeId::kString},
    {"uuid", TypeId::kUuid},
    {"binary", TypeId::kBinary},
    {"variant", TypeId::kVariant},
    {"unknown", TypeId::kUnknown},
}};

std::string_view PlainName(TypeId id) {
  const auto* it = std::ranges::find(kPlainTypes, id, &std::pair<std::string_view, TypeId>::second);
  return it == kPlainTypes.end() ? std::string_view() : it->first;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool ParseCount(std::string_view text, int32_t& value) {
  text = Trim(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 && text.front() != '-';
}

/// `head(inside)` or `head[inside]`: the text inside the brackets.
bool Bracketed(std::string_view text, std::string_view head, char open, char close,
               std::string_view& inside) {
  if (!text.starts_with(head)) return false;
  text = Trim(text.substr(head.size()));
  if (text.size() < 2 || text.front() != open || text.back() != close) return false;
  inside = Trim(text.substr(1, text.size() - 2));
  return true;
}

Error BadType(std::string_view text, std::string_view why) {
  return Error(ErrorKind::kInvalidArgument, fmt::format("type '{}': {}", text, why));
}

Result<TypePtr> ParseDecimal(std::string_view text, std::string_view inside) {
  const size_t comma = inside.find(',');
  int32_t precision = 0;
  int32_t scale = 0;
  if (comma == std::string_view::npos || !ParseCount(inside.substr(0, comma), precision) ||
      !ParseCount(inside.substr(comma + 1), scale)) {
    return BadType(text, "a decimal is written decimal(precision, scale)");
  }
  if (precision < 1 || precision > kMaxDecimalPrecision)
    return BadType(text, "the precision must be 1 to 38");
  if (scale > precision) return BadType(text, "the scale must not be larger than the precision");
  return Type::Decimal(precision, scale);
}

Result<TypePtr> ParseGeography(std::string_view inside) {
  const size_t comma = inside.rfind(',');
  if (comma == std::string_view::npos) return Type::Geography(std::string(inside), "");
  return Type::Geography(std::string(Trim(inside.substr(0, comma))),
                         std::string(Trim(inside.substr(comma + 1))));
}

bool SameDefault(const std::shared_ptr<const Literal>& a, const std::shared_ptr<const Literal>& b) {
  return a == b || (a && b && *a == *b);
}

NestedField Child(int32_t id, const char* name, bool required, TypePtr type) {
  NestedField field;
  field.id = id;
  field.name = name;
  field.required = required;
  field.type = std::move(type);
  return field;
}

std::string FieldText(const NestedField& field) {
  return fmt::format("{}: {}: {} {}", field.id, field.name, field.required ? "required" : "optional",
                     field.type->ToString());
}

std::string StructText(const Type& type) {
  std::string text = "struct<";
  for (const NestedField& field : type.fields()) {
    if (text.back() != '<') text += ", ";
    text += FieldText(field);
  }
  return text + '>';
}

}  // namespace

bool operator==(const NestedField& a, const NestedField& b) {
  return a.id == b.id && a.required == b.required && a.name == b.name && a.doc == b.doc &&
         (a.type == b.type || (a.type && b.type && a.type->Equals(*b.type))) &&
         SameDefault(a.initial_default, b.initial_default) && SameDefault(a.write_default, b.write_default);
}

TypePtr Type::Primitive(TypeId id) {
  FIRN_CHECK(!PlainName(id).empty(), "a primitive without parameters");
  static const auto kTypes = [] {
    std::array<TypePtr, 32> types;
    for (const auto& [name, plain] : kPlainTypes)
      types[static_cast<size_t>(plain)] = std::make_shared<const Type>(Token{}, plain);
    return types;
  }();
  return kTypes[static_cast<size_t>(id)];
}

TypePtr Type::Decimal(int32_t precision, int32_t scale) {
  auto type = std::make_shared<Type>(Token{}, TypeId::kDecimal);
  type->a_ = precision;
  type->b_ = scale;
  return type;
}

TypePtr Type::Fixed(int32_t length) {
  auto type = std::make_shared<Type>(Token{}, TypeId::kFixed);
  type->a_ = length;
  return type;
}

TypePtr Type::Geometry(std::string crs) {
  auto type = std::make_shared<Type>(Token{}, TypeId::kGeometry);
  type->crs_ = std::move(crs);
  return type;
}

TypePtr Type::Geography(std::string crs, std::string algorithm) {
  auto type = std::make_shared<Type>(Token{}, TypeId::kGeography);
  type->crs_ = std::move(crs);
  type->algorithm_ = std::move(algorithm);
  return type;
}

TypePtr Type::Struct(std::vector<NestedField> fields) {
  auto type = std::make_shared<Type>(Token{}, TypeId::kStruct);
  type->fields_ = std::move(fields);
  return type;
}

TypePtr Type::List(int32_t element_id, bool element_required, TypePtr element) {
  auto type = std::make_shared<Type>(Token{}, TypeId::kList);
  type->fields_.push_back(Child(element_id, "element", element_required, std::move(element)));
  return type;
}

TypePtr Type::Map(int32_t key_id, TypePtr key, int32_t value_id, bool value_required, TypePtr value) {
  auto type = std::make_shared<Type>(Token{}, TypeId::kMap);
  type->fields_.push_back(Child(key_id, "key", true, std::move(key)));
  type->fields_.push_back(Child(value_id, "value", value_required, std::move(value)));
  return type;
}

Result<TypePtr> Type::ParsePrimitive(std::string_view text) {
  std::string lower(Trim(text));
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* plain =
      std::ranges::find(kPlainTypes, std::string_view(lower), &std::pair<std::string_view, TypeId>::first);
  if (plain != kPlainTypes.end()) return Primitive(plain->second);

  std::string_view inside;
  if (Bracketed(lower, "decimal", '(', ')', inside)) return ParseDecimal(text, inside);
  if (Bracketed(lower, "fixed", '[', ']', inside)) {
    int32_t length = 0;
    if (inside.empty() || !ParseCount(inside, length) || length < 1)
      return BadType(text, "a fixed type is written fixed[length], the length at least 1");
    return Fixed(length);
  }
  // The case of a coordinate system's name is kept.
  if (lower == "geometry") return Geometry("");
  if (lower == "geography") return Geography("", "");
  if (Bracketed(lower, "geometry", '(', ')', inside)) {
    return Geometry(
        std::string(Trim(text).substr(static_cast<size_t>(inside.data() - lower.data()), inside.size())));
  }
  if (Bracketed(lower, "geography", '(', ')', inside)) {
    return ParseGeography(
        Trim(text).substr(static_cast<size_t>(inside.data() - lower.data()), inside.size()));
  }
  return BadType(text,
                 "no such type; known are boolean, int, long, float, double, decimal(p, s), date, time, "
                 "timestamp, timestamptz, "
                 "string, uuid, fixed[n], binary, and in version 3 timestamp_ns, timestamptz_ns, variant, "
                 "unknown, geometry, geography");
}

const NestedField* Type::FindField(std::string_view name) const {
  const auto it = std::ranges::find(fields_, name, &NestedField::name);
  return it == fields_.end() ? nullptr : &*it;
}

const NestedField* Type::FindField(int32_t id) const {
  const auto it = std::ranges::find(fields_, id, &NestedField::id);
  return it == fields_.end() ? nullptr : &*it;
}

bool Type::Equals(const Type& other) const {
  return this == &other || (id_ == other.id_ && a_ == other.a_ && b_ == other.b_ && crs_ == other.crs_ &&
                            algorithm_ == other.algorithm_ && fields_ == other.fields_);
}

std::string Type::ToString() const {
  switch (id_) {
    case TypeId::kDecimal:
      return fmt::format("decimal({}, {})", a_, b_);
    case TypeId::kFixed:
      return fmt::format("fixed[{}]", a_);
    case TypeId::kGeometry:
      return crs_.empty() ? "geometry" : fmt::format("geometry({})", crs_);
    case TypeId::kGeography:
      if (algorithm_.empty()) return crs_.empty() ? "geography" : fmt::format("geography({})", crs_);
      return fmt::format("geography({}, {})", crs_, algorithm_);
    case TypeId::kStruct:
      return StructText(*this);
    case TypeId::kList:
      return fmt::format("list<{}>", element().type->ToString());
    case TypeId::kMap:
      return fmt::format("map<{}, {}>", key().type->ToString(), value().type->ToString());
    default:
      return std::string(PlainName(id_));
  }
}

int Type::min_format_version() const {
  switch (id_) {
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
    case TypeId::kVariant:
    case TypeId::kUnknown:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return 3;
    default:
      return 1;
  }
}

bool CanPromote(const Type& from, const Type& to, int format_version) {
  if (from.Equals(to)) return true;
  switch (from.id()) {
    case TypeId::kInt:
      return to.id() == TypeId::kLong;
    case TypeId::kFloat:
      return to.id() == TypeId::kDouble;
    case TypeId::kDecimal:
      return to.id() == TypeId::kDecimal && to.scale() == from.scale() && to.precision() > from.precision();
    case TypeId::kDate:
      return format_version >= 3 && (to.id() == TypeId::kTimestamp || to.id() == TypeId::kTimestampNs);
    case TypeId::kUnknown:
      return format_version >= 3 && to.is_primitive();
    default:
      return false;
  }
}

int32_t DecimalRequiredBytes(int32_t precision) {
  FIRN_CHECK(precision >= 1 && precision <= kMaxDecimalPrecision, "a decimal precision of 1 to 38");
  // The smallest n with 2^(8n-1) > 10^precision.
  static constexpr std::array<int32_t, 39> kBytes = {0,  1,  1,  2,  2,  3,  3,  4,  4,  4,  5,  5,  6,
                                                     6,  6,  7,  7,  8,  8,  9,  9,  9,  10, 10, 11, 11,
                                                     11, 12, 12, 13, 13, 13, 14, 14, 15, 15, 16, 16, 16};
  return kBytes[static_cast<size_t>(precision)];
}

}  // namespace firn::iceberg
