#include "firn/decode/avro/avro_types.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace firn::decode {

using avro::Kind;
using avro::Node;
using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;
using iceberg::TypePtr;

namespace {

constexpr int32_t kMaxPrecision = 38;
constexpr int32_t kMaxFields = 10'000;
constexpr int64_t kUuidBytes = 16;

bool IsDecimal(const Node& node) {
  if (node.kind != Kind::kBytes && node.kind != Kind::kFixed) return false;
  return node.precision >= 1 && node.precision <= kMaxPrecision && node.scale >= 0 &&
         node.scale <= node.precision;
}

AvroLogical LogicalOfLong(const Node& node) {
  const std::string& name = node.logical_type;
  if (name == "time-micros") return AvroLogical::kTime;
  if (name.starts_with("local-timestamp-")) return AvroLogical::kLocalTimestamp;
  if (!name.starts_with("timestamp-")) return AvroLogical::kNone;
  // Iceberg's own writers tell both kinds of timestamps apart by this property.
  return node.adjust_to_utc.value_or(true) ? AvroLogical::kTimestamp : AvroLogical::kLocalTimestamp;
}

/// Walks a type; what is open on the way down must not come again.
class TypeBuilder {
 public:
  Result<TypePtr> Build(const Node& node) {
    switch (node.kind) {
      case Kind::kNull:
        return TypePtr();
      case Kind::kRecord:
        return BuildRecord(node);
      case Kind::kArray: {
        FIRN_ASSIGN(TypePtr element, Build(*node.items));
        return element == nullptr ? element : Type::List(0, false, std::move(element));
      }
      case Kind::kMap: {
        FIRN_ASSIGN(TypePtr value, Build(*node.items));
        if (value == nullptr) return value;
        return Type::Map(0, Type::Primitive(TypeId::kString), 0, false, std::move(value));
      }
      case Kind::kUnion:
        return BuildUnion(node);
      default:
        return Primitive(node);
    }
  }

 private:
  Result<TypePtr> BuildRecord(const Node& node) {
    if (std::find(open_.begin(), open_.end(), &node) != open_.end()) {
      return Error(ErrorKind::kUnsupported,
                   fmt::format("record '{}' holds itself, which no column can", node.name));
    }
    open_.push_back(&node);
    std::vector<NestedField> fields;
    for (const avro::Field& field : node.fields) FIRN_TRY(Add(field.name, field.doc, *field.type, &fields));
    open_.pop_back();
    return StructOf(std::move(fields));
  }

  Result<TypePtr> BuildUnion(const Node& node) {
    if (!IsGeneralUnion(node)) {
      for (const Node* branch : node.branches) {
        if (branch->kind != Kind::kNull) return Build(*branch);
      }
      return TypePtr();
    }
    const std::vector<std::string> names = UnionFieldNames(node);
    std::vector<NestedField> fields;
    for (size_t i = 0; i < names.size(); ++i) {
      if (!names[i].empty()) FIRN_TRY(Add(names[i], {}, *node.branches[i], &fields));
    }
    return StructOf(std::move(fields));
  }

  Status Add(const std::string& name, const std::string& doc, const Node& type,
             std::vector<NestedField>* fields) {
    if (++count_ > kMaxFields)
      return Error(ErrorKind::kUnsupported, fmt::format("a type of more than {} fields", kMaxFields));
    FIRN_ASSIGN_CTX(TypePtr column, Build(type), fmt::format("field '{}'", name));
    if (column == nullptr) return Ok();
    NestedField field;
    field.name = name;
    field.doc = doc;
    field.type = std::move(column);
    fields->push_back(std::move(field));
    return Ok();
  }

  static TypePtr StructOf(std::vector<NestedField> fields) {
    return fields.empty() ? nullptr : Type::Struct(std::move(fields));
  }

  static TypePtr Primitive(const Node& node) {
    switch (LogicalOf(node)) {
      case AvroLogical::kDecimal:
        return Type::Decimal(node.precision, node.scale);
      case AvroLogical::kUuid:
        return Type::Primitive(TypeId::kUuid);
      case AvroLogical::kDate:
        return Type::Primitive(TypeId::kDate);
      case AvroLogical::kTime:
        return Type::Primitive(TypeId::kTime);
      case AvroLogical::kTimestamp:
        return Type::Primitive(DigitsOf(node) == 9 ? TypeId::kTimestampTzNs : TypeId::kTimestampTz);
      case AvroLogical::kLocalTimestamp:
        return Type::Primitive(DigitsOf(node) == 9 ? TypeId::kTimestampNs : TypeId::kTimestamp);
      case AvroLogical::kNone:
        break;
    }
    switch (node.kind) {
      case Kind::kBoolean:
        return Type::Primitive(TypeId::kBoolean);
      case Kind::kInt:
        return Type::Primitive(TypeId::kInt);
      case Kind::kLong:
        return Type::Primitive(TypeId::kLong);
      case Kind::kFloat:
        return Type::Primitive(TypeId::kFloat);
      case Kind::kDouble:
        return Type::Primitive(TypeId::kDouble);
      case Kind::kBytes:
        return Type::Primitive(TypeId::kBinary);
      case Kind::kFixed:
        return node.size_bytes == 0 ? nullptr : Type::Fixed(static_cast<int32_t>(node.size_bytes));
      default:
        return Type::Primitive(TypeId::kString);  // string, enum
    }
  }

  std::vector<const Node*> open_;
  int32_t count_ = 0;
};

std::string ShortName(const Node& node) {
  if (node.name.empty()) return std::string(ToString(node.kind));
  const size_t dot = node.name.rfind('.');
  return dot == std::string::npos ? node.name : node.name.substr(dot + 1);
}

}  // namespace

AvroLogical LogicalOf(const Node& node) {
  const std::string& name = node.logical_type;
  if (name.empty()) return AvroLogical::kNone;
  if (name == "decimal") return IsDecimal(node) ? AvroLogical::kDecimal : AvroLogical::kNone;
  switch (node.kind) {
    case Kind::kInt:
      if (name == "date") return AvroLogical::kDate;
      return name == "time-millis" ? AvroLogical::kTime : AvroLogical::kNone;
    case Kind::kLong:
      return LogicalOfLong(node);
    case Kind::kString:
      return name == "uuid" ? AvroLogical::kUuid : AvroLogical::kNone;
    case Kind::kFixed:
      return name == "uuid" && node.size_bytes == kUuidBytes ? AvroLogical::kUuid : AvroLogical::kNone;
    default:
      return AvroLogical::kNone;
  }
}

int DigitsOf(const Node& node) {
  if (node.logical_type.ends_with("-nanos")) return 9;
  return node.logical_type.ends_with("-micros") ? 6 : 3;
}

Result<TypePtr> ColumnTypeOf(const Node& node) { return TypeBuilder().Build(node); }

bool IsGeneralUnion(const Node& node) {
  const auto is_value = [](const Node* branch) { return branch->kind != Kind::kNull; };
  return node.kind == Kind::kUnion && std::count_if(node.branches.begin(), node.branches.end(), is_value) > 1;
}

std::vector<std::string> UnionFieldNames(const Node& union_node) {
  std::map<std::string, int> uses;
  for (const Node* branch : union_node.branches) ++uses[ShortName(*branch)];
  std::vector<std::string> names;
  for (const Node* branch : union_node.branches) {
    std::string name = branch->kind == Kind::kNull ? std::string() : ShortName(*branch);
    if (!name.empty() && uses[name] > 1 && !branch->name.empty()) {
      name = branch->name;
      std::replace(name.begin(), name.end(), '.', '_');
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::string DescribeAvro(const Node& node) {
  std::string text(ToString(node.kind));
  if (node.kind == Kind::kFixed) text = fmt::format("fixed of {} bytes", node.size_bytes);
  if (node.logical_type == "decimal")
    return fmt::format("{} (decimal({},{}))", text, node.precision, node.scale);
  return node.logical_type.empty() ? text : fmt::format("{} ({})", text, node.logical_type);
}

}  // namespace firn::decode
