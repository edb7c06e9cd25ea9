#include "firn/iceberg/meta/partition_avro.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "firn/iceberg/model/decimal.h"

namespace firn::iceberg {

namespace {

using avro::Kind;

bool HasSources(const Schema& schema, const PartitionSpec& spec) {
  return std::all_of(spec.fields.begin(), spec.fields.end(), [&](const PartitionField& field) {
    return schema.FindById(field.source_id) != nullptr;
  });
}

const NestedField* FindSource(const TableMetadata& metadata, int32_t id) {
  if (const auto* field = metadata.schema()->FindById(id)) return field;
  for (auto it = metadata.schemas.rbegin(); it != metadata.schemas.rend(); ++it) {
    if (const auto* field = (*it)->FindById(id)) return field;
  }
  return nullptr;
}

/// What the bytes of one Avro value say before the Iceberg type is known. Views point into the file.
using Raw = std::variant<bool, int64_t, float, double, std::string_view>;

template <typename T>
Result<Raw> ToRaw(Result<T> read) {
  if (!read.ok()) return std::move(read).error();
  return Raw(*read);
}

Result<Raw> ReadRaw(avro::BinaryReader& reader, const avro::Node& node) {
  switch (node.kind) {
    case Kind::kBoolean:
      return ToRaw(reader.ReadBoolean());
    case Kind::kInt: {
      FIRN_ASSIGN(int64_t value, reader.ReadInt());
      return Raw(value);
    }
    case Kind::kLong:
      return ToRaw(reader.ReadLong());
    case Kind::kFloat:
      return ToRaw(reader.ReadFloat());
    case Kind::kDouble:
      return ToRaw(reader.ReadDouble());
    case Kind::kBytes:
    case Kind::kString:
      return ToRaw(reader.ReadBytes());
    case Kind::kFixed:
      return ToRaw(reader.ReadFixed(node.size_bytes));
    default:
      return Error(ErrorKind::kCorrupt,
                   fmt::format("a partition value of Avro type {}", ToString(node.kind)));
  }
}

/// The Iceberg type that an Avro type stands for; used where the table no longer tells.
TypePtr TypeOfNode(const avro::Node& node) {
  switch (node.kind) {
    case Kind::kBoolean:
      return Type::Primitive(TypeId::kBoolean);
    case Kind::kInt:
      return Type::Primitive(node.logical_type == "date" ? TypeId::kDate : TypeId::kInt);
    case Kind::kLong:
      return Type::Primitive(TypeId::kLong);
    case Kind::kFloat:
      return Type::Primitive(TypeId::kFloat);
    case Kind::kDouble:
      return Type::Primitive(TypeId::kDouble);
    case Kind::kString:
      return Type::Primitive(TypeId::kString);
    default:
      return Type::Primitive(TypeId::kBinary);
  }
}

bool IsTextOrBytes(TypeId id) { return id == TypeId::kString || id == TypeId::kBinary; }

std::optional<Literal> FromInteger(int64_t value, bool wide, const TypePtr& target) {
  switch (target->id()) {
    case TypeId::kInt:
    case TypeId::kDate:
      if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
        return std::nullopt;
      return Literal(target, static_cast<int32_t>(value));
    case TypeId::kLong:
      return Literal(target, value);
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      if (!wide) return std::nullopt;
      return Literal(target, value);
    default:
      return std::nullopt;
  }
}

std::optional<Literal> FromBytes(std::string_view bytes, const TypePtr& target) {
  switch (target->id()) {
    case TypeId::kDecimal: {
      Int128 unscaled = 0;
      if (!DecimalFromBytes(bytes, unscaled)) return std::nullopt;
      return Literal(target, unscaled);
    }
    case TypeId::kUuid:
      if (bytes.size() != 16) return std::nullopt;
      return Literal(target, std::string(bytes));
    case TypeId::kFixed:
      if (bytes.size() != static_cast<size_t>(target->length())) return std::nullopt;
      return Literal(target, std::string(bytes));
    case TypeId::kString:
    case TypeId::kBinary:
      return Literal(target, std::string(bytes));
    default:
      return std::nullopt;
  }
}

std::optional<Literal> FromRaw(const Raw& raw, bool wide, const TypePtr& target) {
  if (const auto* integer = std::get_if<int64_t>(&raw)) return FromInteger(*integer, wide, target);
  if (const auto* bytes = std::get_if<std::string_view>(&raw)) return FromBytes(*bytes, target);
  if (const auto* flag = std::get_if<bool>(&raw)) {
    return target->id() == TypeId::kBoolean ? std::optional(Literal(target, *flag)) : std::nullopt;
  }
  if (const auto* single = std::get_if<float>(&raw)) {
    if (target->id() == TypeId::kFloat) return Literal(target, *single);
    return target->id() == TypeId::kDouble ? std::optional(Literal(target, double{*single})) : std::nullopt;
  }
  return target->id() == TypeId::kDouble ? std::optional(Literal(target, std::get<double>(raw)))
                                         : std::nullopt;
}

/// Two's complement, big-endian, sign-extended to `size`; the value is known to fit its precision.
std::string DecimalToFixed(Int128 unscaled, int32_t size) {
  std::string bytes(static_cast<size_t>(size), '\0');
  for (auto it = bytes.rbegin(); it != bytes.rend(); ++it) {
    *it = static_cast<char>(unscaled & 0xFF);
    unscaled >>= 8;
  }
  return bytes;
}

}  // namespace

SchemaPtr SchemaForSpec(const TableMetadata& metadata, const PartitionSpec& spec) {
  if (HasSources(*metadata.schema(), spec)) return metadata.schema();
  for (auto it = metadata.schemas.rbegin(); it != metadata.schemas.rend(); ++it) {
    if (HasSources(**it, spec)) return *it;
  }
  return nullptr;
}

TypePtr PartitionTypeForReading(const TableMetadata& metadata, const PartitionSpec& spec) {
  std::vector<NestedField> fields;
  for (const auto& field : spec.fields) {
    const NestedField* source = FindSource(metadata, field.source_id);
    NestedField type;
    type.id = field.field_id;
    type.name = field.name;
    type.type = Type::Primitive(TypeId::kUnknown);
    if (source != nullptr && field.transform.CanApply(*source->type))
      type.type = field.transform.ResultType(source->type);
    fields.push_back(std::move(type));
  }
  return Type::Struct(std::move(fields));
}

bool HasFixedField(const Type& partition_type) {
  return std::any_of(partition_type.fields().begin(), partition_type.fields().end(),
                     [](const NestedField& field) { return field.type->id() == TypeId::kFixed; });
}

Result<Literal> ReadPartitionValue(avro::BinaryReader& reader, const avro::Node& node, const TypePtr& target,
                                   FixedForm fixed_form) {
  const avro::Node* value_node = &node;
  if (node.kind == Kind::kUnion) {
    FIRN_ASSIGN(value_node, reader.ReadBranch(node));
  }
  const bool known = target->id() != TypeId::kUnknown;
  if (value_node->kind == Kind::kNull) return Literal::Null(target);
  const bool with_length = fixed_form == FixedForm::kWithLength && target->id() == TypeId::kFixed;
  FIRN_ASSIGN(auto raw, with_length ? ToRaw(reader.ReadBytes()) : ReadRaw(reader, *value_node));
  auto literal = FromRaw(raw, value_node->kind == Kind::kLong, known ? target : TypeOfNode(*value_node));
  if (literal) return *std::move(literal);
  return Error(ErrorKind::kCorrupt, fmt::format("a partition value of Avro type {} where {} was expected",
                                                ToString(value_node->kind), target->ToString()));
}

Result<Literal> ConvertPartitionValue(const Literal& value, const TypePtr& target) {
  if (value.is_null()) return Literal::Null(target);
  if (value.type()->Equals(*target)) return value;
  std::optional<Literal> converted;
  const TypeId from = value.type()->id();
  if (from == TypeId::kDecimal && target->id() == TypeId::kDecimal &&
      value.type()->scale() == target->scale()) {
    converted = Literal(target, value.get<Int128>());
  } else if (from == TypeId::kInt || from == TypeId::kDate) {
    converted = FromInteger(value.get<int32_t>(), /*wide=*/false, target);
  } else if (from == TypeId::kFloat) {
    converted = FromRaw(value.get<float>(), false, target);
  } else if (IsTextOrBytes(from) && IsTextOrBytes(target->id())) {
    converted = FromBytes(value.get<std::string>(), target);
  }
  if (converted) return *std::move(converted);
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("partition value {} of type {} for a partition field of type {}",
                           value.ToHumanString(), value.type()->ToString(), target->ToString()));
}

void WritePartitionValue(avro::BinaryWriter& writer, const Literal& value) {
  const auto& storage = value.value();
  const TypeId id = value.type()->id();
  if (const auto* flag = std::get_if<bool>(&storage)) {
    writer.WriteBoolean(*flag);
  } else if (const auto* integer = std::get_if<int32_t>(&storage)) {
    writer.WriteInt(*integer);
  } else if (const auto* wide = std::get_if<int64_t>(&storage)) {
    writer.WriteLong(*wide);
  } else if (const auto* single = std::get_if<float>(&storage)) {
    writer.WriteFloat(*single);
  } else if (const auto* number = std::get_if<double>(&storage)) {
    writer.WriteDouble(*number);
  } else if (const auto* unscaled = std::get_if<Int128>(&storage)) {
    writer.WriteFixed(DecimalToFixed(*unscaled, DecimalRequiredBytes(value.type()->precision())));
  } else if (IsTextOrBytes(id)) {
    writer.WriteBytes(value.get<std::string>());
  } else {
    writer.WriteFixed(value.get<std::string>());
  }
}

}  // namespace firn::iceberg
