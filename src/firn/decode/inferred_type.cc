#include "firn/decode/inferred_type.h"

#include <fmt/format.h>

#include <algorithm>

namespace firn::decode {

using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;
using iceberg::TypePtr;

InferredType InferredType::Of(InferredKind kind) {
  InferredType type;
  type.kind = kind;
  return type;
}

InferredType InferredType::OfText(std::string_view text) {
  const bool is_not_finite = text == "NaN" || text == "Infinity" || text == "-Infinity";
  return Of(is_not_finite ? InferredKind::kNotFinite : InferredKind::kString);
}

InferredType InferredType::Conflict(std::string why) {
  InferredType type = Of(InferredKind::kConflict);
  type.conflict = std::move(why);
  return type;
}

InferredType InferredType::Known(iceberg::TypePtr type, std::string doc) {
  InferredType inferred = Of(InferredKind::kKnown);
  inferred.known = std::move(type);
  inferred.doc = std::move(doc);
  return inferred;
}

InferredType::InferredType(const InferredType& other)
    : kind(other.kind),
      from_text(other.from_text),
      fields(other.fields),
      element(other.element == nullptr ? nullptr : std::make_unique<InferredType>(*other.element)),
      known(other.known),
      doc(other.doc),
      conflict(other.conflict) {}

InferredType& InferredType::operator=(const InferredType& other) {
  if (this != &other) *this = InferredType(other);
  return *this;
}

void InferredType::Merge(const InferredType& other) {
  const auto is_number = [](InferredKind k) {
    return k == InferredKind::kLong || k == InferredKind::kDouble || k == InferredKind::kNotFinite;
  };
  const auto is_text = [](InferredKind k) {
    return k == InferredKind::kString || k == InferredKind::kNotFinite;
  };
  if (kind == InferredKind::kConflict || other.kind == InferredKind::kWaiting) return;
  if (kind == InferredKind::kWaiting || other.kind == InferredKind::kConflict) {
    *this = other;
  } else if (kind != other.kind && is_number(kind) && is_number(other.kind)) {
    kind = InferredKind::kDouble;
  } else if (kind != other.kind && is_text(kind) && is_text(other.kind)) {
    kind = InferredKind::kString;
  } else if (kind == InferredKind::kKnown && other.kind == InferredKind::kKnown) {
    MergeKnown(other);
  } else if (kind != other.kind && from_text && other.from_text) {
    kind = InferredKind::kString;
  } else if (kind != other.kind) {
    *this = Conflict(fmt::format("{} here, {} there", ToString(kind), ToString(other.kind)));
  } else if (kind == InferredKind::kStruct) {
    for (const auto& [name, type] : other.fields) {
      const auto mine =
          std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.first == name; });
      if (mine == fields.end()) {
        SetField(name, type);
        if (kind == InferredKind::kConflict) return;
      } else {
        mine->second.Merge(type);
      }
    }
  } else if (kind == InferredKind::kList) {
    element->Merge(*other.element);
  }
}

void InferredType::MergeKnown(const InferredType& other) {
  if (known->Equals(*other.known) ||
      iceberg::CanPromote(*other.known, *known, iceberg::kPromotionsOfEveryTable))
    return;
  if (iceberg::CanPromote(*known, *other.known, iceberg::kPromotionsOfEveryTable)) {
    known = other.known;
  } else {
    *this = Conflict(fmt::format("{} here, {} there", known->ToString(), other.known->ToString()));
  }
}

void InferredType::SetField(std::string_view name, InferredType type) {
  if (name.empty() || kind == InferredKind::kConflict) return;
  for (auto& [mine, mine_type] : fields) {
    if (mine == name) {
      mine_type = std::move(type);
      return;
    }
    if (EqualsIgnoringCase(mine, name)) return;
  }
  if (fields.size() < kMaxFields) {
    fields.emplace_back(name, std::move(type));
  } else {
    *this = Conflict(fmt::format("an object with more than {} fields; declare it as a map", kMaxFields));
  }
}

bool InferredType::is_waiting() const {
  if (kind == InferredKind::kWaiting) return true;
  if (kind == InferredKind::kList) return element->is_waiting();
  if (kind != InferredKind::kStruct) return false;
  return std::all_of(fields.begin(), fields.end(),
                     [](const auto& field) { return field.second.is_waiting(); });
}

std::string InferredType::FindConflict() const {
  if (kind == InferredKind::kConflict) return conflict;
  if (kind == InferredKind::kList) {
    const std::string inner = element->FindConflict();
    return inner.empty() ? inner : "elements: " + inner;
  }
  for (const auto& [name, type] : fields) {
    if (const std::string inner = type.FindConflict(); !inner.empty())
      return fmt::format("'{}': {}", name, inner);
  }
  return {};
}

TypePtr InferredType::ToIceberg() const {
  switch (kind) {
    case InferredKind::kBoolean:
      return Type::Primitive(TypeId::kBoolean);
    case InferredKind::kLong:
      return Type::Primitive(TypeId::kLong);
    case InferredKind::kDouble:
      return Type::Primitive(TypeId::kDouble);
    case InferredKind::kList:
      return Type::List(0, false, element->ToIceberg());
    case InferredKind::kStruct: {
      std::vector<NestedField> nested;
      for (const auto& [name, type] : fields) {
        if (type.is_waiting()) continue;
        NestedField field;
        field.name = name;
        field.type = type.ToIceberg();
        nested.push_back(std::move(field));
      }
      return Type::Struct(std::move(nested));
    }
    case InferredKind::kKnown:
      return known;
    default:
      return Type::Primitive(TypeId::kString);
  }
}

int32_t InferredType::CountFields() const {
  int32_t count = 1;
  if (kind == InferredKind::kKnown) return count + CountNamedFields(*known);
  if (kind == InferredKind::kList) count += element->CountFields() - 1;
  for (const auto& field : fields) {
    if (!field.second.is_waiting()) count += field.second.CountFields();
  }
  return count;
}

int32_t CountNamedFields(const Type& type) {
  int32_t count = 0;
  for (const NestedField& field : type.fields())
    count += (type.id() == TypeId::kStruct ? 1 : 0) + CountNamedFields(*field.type);
  return count;
}

std::string_view ToString(InferredKind kind) {
  switch (kind) {
    case InferredKind::kWaiting:
      return "null";
    case InferredKind::kBoolean:
      return "boolean";
    case InferredKind::kLong:
      return "integer";
    case InferredKind::kDouble:
      return "number";
    case InferredKind::kString:
    case InferredKind::kNotFinite:
      return "string";
    case InferredKind::kStruct:
      return "object";
    case InferredKind::kList:
      return "array";
    case InferredKind::kKnown:
      return "known";
    case InferredKind::kConflict:
      return "conflict";
  }
  return "?";
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace firn::decode
