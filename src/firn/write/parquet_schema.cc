#include "firn/write/parquet_schema.h"

#include <parquet/types.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace firn::write {

namespace {

using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;
using parquet::LogicalType;
using parquet::Repetition;
using parquet::schema::GroupNode;
using parquet::schema::NodePtr;
using parquet::schema::PrimitiveNode;
using LogicalTypePtr = std::shared_ptr<const LogicalType>;

struct Physical {
  parquet::Type::type type;
  LogicalTypePtr logical = LogicalType::None();
  int length = -1;
};

LogicalTypePtr Timestamp(bool utc, LogicalType::TimeUnit::unit unit) {
  return LogicalType::Timestamp(utc, unit, /*is_from_converted_type=*/false,
                                /*force_set_converted_type=*/false);
}

Physical DecimalPhysical(const Type& type) {
  const LogicalTypePtr logical = LogicalType::Decimal(type.precision(), type.scale());
  if (type.precision() <= 9) return {parquet::Type::INT32, logical};
  if (type.precision() <= 18) return {parquet::Type::INT64, logical};
  return {parquet::Type::FIXED_LEN_BYTE_ARRAY, logical, iceberg::DecimalRequiredBytes(type.precision())};
}

Result<Physical> PhysicalOf(const Type& type) {
  switch (type.id()) {
    case TypeId::kBoolean:
      return Physical{parquet::Type::BOOLEAN};
    case TypeId::kInt:
      return Physical{parquet::Type::INT32};
    case TypeId::kLong:
      return Physical{parquet::Type::INT64};
    case TypeId::kFloat:
      return Physical{parquet::Type::FLOAT};
    case TypeId::kDouble:
      return Physical{parquet::Type::DOUBLE};
    case TypeId::kDecimal:
      return DecimalPhysical(type);
    case TypeId::kDate:
      return Physical{parquet::Type::INT32, LogicalType::Date()};
    case TypeId::kTime:
      return Physical{parquet::Type::INT64, LogicalType::Time(false, LogicalType::TimeUnit::MICROS)};
    case TypeId::kTimestamp:
      return Physical{parquet::Type::INT64, Timestamp(false, LogicalType::TimeUnit::MICROS)};
    case TypeId::kTimestampTz:
      return Physical{parquet::Type::INT64, Timestamp(true, LogicalType::TimeUnit::MICROS)};
    case TypeId::kTimestampNs:
      return Physical{parquet::Type::INT64, Timestamp(false, LogicalType::TimeUnit::NANOS)};
    case TypeId::kTimestampTzNs:
      return Physical{parquet::Type::INT64, Timestamp(true, LogicalType::TimeUnit::NANOS)};
    case TypeId::kString:
      return Physical{parquet::Type::BYTE_ARRAY, LogicalType::String()};
    case TypeId::kBinary:
      return Physical{parquet::Type::BYTE_ARRAY};
    case TypeId::kUuid:
      return Physical{parquet::Type::FIXED_LEN_BYTE_ARRAY, LogicalType::UUID(), 16};
    case TypeId::kFixed:
      return Physical{parquet::Type::FIXED_LEN_BYTE_ARRAY, LogicalType::None(), type.length()};
    default:
      return Error(ErrorKind::kUnsupported, "type " + type.ToString() + " cannot be written yet");
  }
}

Result<NodePtr> MakeNode(const NestedField& field);

Result<std::vector<NodePtr>> MakeNodes(const std::vector<NestedField>& fields) {
  std::vector<NodePtr> nodes;
  for (const NestedField& field : fields) {
    FIRN_ASSIGN_CTX(NodePtr node, MakeNode(field), "column '" + field.name + "'");
    nodes.push_back(std::move(node));
  }
  return nodes;
}

NestedField Renamed(NestedField field, std::string name, bool required) {
  field.name = std::move(name);
  field.required = required;
  return field;
}

Result<NodePtr> MakeList(const NestedField& field, Repetition::type repetition) {
  const NestedField& element = field.type->element();
  FIRN_ASSIGN(NodePtr child, MakeNode(Renamed(element, "element", element.required)));
  NodePtr repeated = GroupNode::Make("list", Repetition::REPEATED, {std::move(child)});
  return GroupNode::Make(field.name, repetition, {std::move(repeated)}, LogicalType::List(), field.id);
}

Result<NodePtr> MakeMap(const NestedField& field, Repetition::type repetition) {
  const NestedField& value = field.type->value();
  FIRN_ASSIGN(NodePtr key, MakeNode(Renamed(field.type->key(), "key", true)));
  FIRN_ASSIGN(NodePtr value_node, MakeNode(Renamed(value, "value", value.required)));
  NodePtr repeated =
      GroupNode::Make("key_value", Repetition::REPEATED, {std::move(key), std::move(value_node)});
  return GroupNode::Make(field.name, repetition, {std::move(repeated)}, LogicalType::Map(), field.id);
}

Result<NodePtr> MakeStruct(const NestedField& field, Repetition::type repetition) {
  if (field.type->fields().empty()) {
    return Error(ErrorKind::kUnsupported, "a struct without fields cannot be stored in Parquet");
  }
  FIRN_ASSIGN(auto children, MakeNodes(field.type->fields()));
  return GroupNode::Make(field.name, repetition, children, nullptr, field.id);
}

Result<NodePtr> MakeNode(const NestedField& field) {
  const auto repetition = field.required ? Repetition::REQUIRED : Repetition::OPTIONAL;
  switch (field.type->id()) {
    case TypeId::kStruct:
      return MakeStruct(field, repetition);
    case TypeId::kList:
      return MakeList(field, repetition);
    case TypeId::kMap:
      return MakeMap(field, repetition);
    default: {
      FIRN_ASSIGN(const Physical physical, PhysicalOf(*field.type));
      return PrimitiveNode::Make(field.name, repetition, physical.logical, physical.type, physical.length,
                                 field.id);
    }
  }
}

void AddLeafPaths(const parquet::schema::Node& node, std::map<int32_t, std::string>& paths) {
  if (node.is_primitive()) {
    paths[node.field_id()] = node.path()->ToDotString();
    return;
  }
  const auto& group = static_cast<const GroupNode&>(node);
  for (int i = 0; i < group.field_count(); ++i) AddLeafPaths(*group.field(i), paths);
}

}  // namespace

Result<std::shared_ptr<GroupNode>> MakeParquetSchema(const iceberg::Schema& schema) {
  FIRN_ASSIGN(auto nodes, MakeNodes(schema.fields()));
  return std::static_pointer_cast<GroupNode>(GroupNode::Make("table", Repetition::REQUIRED, nodes));
}

Result<iceberg::SchemaPtr> StoredSchema(const iceberg::SchemaPtr& schema) {
  std::vector<NestedField> stored;
  for (const NestedField& field : schema->fields()) {
    if (field.type->id() == TypeId::kUnknown) continue;
    bool nested_unknown = false;
    iceberg::VisitFields(*field.type, [&](const NestedField& child) {
      nested_unknown |= child.type->id() == TypeId::kUnknown;
    });
    if (nested_unknown) {
      return Error(ErrorKind::kUnsupported,
                   "column '" + field.name + "': unknown inside a nested type cannot be written yet");
    }
    stored.push_back(field);
  }
  if (stored.size() == schema->fields().size()) return schema;
  return std::make_shared<const iceberg::Schema>(schema->schema_id(), std::move(stored),
                                                 schema->identifier_field_ids());
}

std::map<int32_t, std::string> LeafPaths(const GroupNode& root) {
  std::map<int32_t, std::string> paths;
  AddLeafPaths(root, paths);
  return paths;
}

}  // namespace firn::write
