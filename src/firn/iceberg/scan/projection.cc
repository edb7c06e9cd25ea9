#include "firn/iceberg/scan/projection.h"

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/datum.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/bitmap_ops.h>

#include <algorithm>
#include <set>
#include <utility>

#include "firn/iceberg/scan/arrow_error.h"
#include "firn/iceberg/scan/arrow_literal.h"
#include "firn/iceberg/scan/arrow_schema.h"

namespace firn::iceberg {

namespace {

using ArrayPtr = std::shared_ptr<arrow::Array>;

bool IsText(TypeId id) { return id == TypeId::kString || id == TypeId::kBinary; }
bool IsTimestamp(TypeId id) {
  return id == TypeId::kTimestamp || id == TypeId::kTimestampTz || id == TypeId::kTimestampNs ||
         id == TypeId::kTimestampTzNs;
}

/// What a file may hold under a field of type `target`: the type itself, one it was promoted from, or another
/// writer's way of storing the same values (INT96 and unannotated times, plain fixed for uuid, unannotated
/// text).
bool CanRead(const Type& stored, const Type& target) {
  if (stored.Equals(target) || CanPromote(stored, target, 3)) return true;
  if (IsText(stored.id()) && IsText(target.id())) return true;
  if (IsTimestamp(stored.id()) && IsTimestamp(target.id())) return true;
  return stored.id() == TypeId::kFixed && stored.length() == 16 && target.id() == TypeId::kUuid;
}

Status CheckReadable(const NestedField& target, const FileField& source) {
  FIRN_ASSIGN(const TypePtr stored, FromArrowType(*source.type));
  if (target.type->is_primitive() ? CanRead(*stored, *target.type) : stored->id() == target.type->id())
    return Ok();
  return Error(ErrorKind::kCorrupt, "column '" + target.name + "' is stored as " + stored->ToString() +
                                        ", which cannot be read as " + target.type->ToString());
}

Result<ArrayPtr> CastArray(const ArrayPtr& source, const std::shared_ptr<arrow::DataType>& type,
                           arrow::MemoryPool* pool) {
  arrow::compute::ExecContext context(pool);
  context.set_use_threads(false);
  auto options = arrow::compute::CastOptions::Safe(type);
  options.allow_time_truncate = true;  // INT96 holds nanoseconds that a microsecond column never had
  FIRN_ARROW_ASSIGN(const arrow::Datum result, arrow::compute::Cast(arrow::Datum(source), options, &context));
  return result.make_array();
}

/// Timestamps with and without a zone hold the same number; a cast would ask for a zone database.
Result<ArrayPtr> PromoteTimestamp(const ArrayPtr& source, const std::shared_ptr<arrow::DataType>& type,
                                  arrow::MemoryPool* pool) {
  const auto& to = static_cast<const arrow::TimestampType&>(*type);
  const auto& from = static_cast<const arrow::TimestampType&>(*source->type());
  ArrayPtr array = source;
  if (from.unit() != to.unit()) {
    FIRN_ASSIGN(array, CastArray(array, arrow::timestamp(to.unit(), from.timezone()), pool));
  }
  FIRN_ARROW_ASSIGN(auto view, array->View(type));
  return view;
}

Result<ArrayPtr> Promote(const ArrayPtr& source, const std::shared_ptr<arrow::DataType>& type,
                         arrow::MemoryPool* pool) {
  if (source->type()->Equals(type)) return source;
  if (source->type_id() == arrow::Type::EXTENSION) {
    return Promote(static_cast<const arrow::ExtensionArray&>(*source).storage(), type, pool);
  }
  if (source->type_id() == arrow::Type::TIMESTAMP && type->id() == arrow::Type::TIMESTAMP) {
    return PromoteTimestamp(source, type, pool);
  }
  return CastArray(source, type, pool);
}

Result<std::shared_ptr<arrow::Buffer>> Validity(const arrow::Array& source, arrow::MemoryPool* pool) {
  if (source.null_count() == 0) return std::shared_ptr<arrow::Buffer>();
  FIRN_ARROW_ASSIGN(auto bitmap, arrow::internal::CopyBitmap(pool, source.null_bitmap_data(), source.offset(),
                                                             source.length()));
  return bitmap;
}

}  // namespace

Result<Projection> Projection::Make(const Schema& target, const std::vector<FileField>& file,
                                    const std::map<int32_t, Literal>& constants) {
  Projection projection;
  FIRN_ASSIGN(projection.arrow_schema_, ToArrowSchema(target));
  for (const NestedField& field : target.fields()) {
    FIRN_ASSIGN(Node node, MakeNode(field, file, constants, projection.leaves_));
    projection.columns_.push_back(std::move(node));
  }
  std::sort(projection.leaves_.begin(), projection.leaves_.end());
  return projection;
}

Result<Projection::Node> Projection::MakeNode(const NestedField& target, const std::vector<FileField>& file,
                                              const std::map<int32_t, Literal>& constants,
                                              std::vector<int>& leaves) {
  Node node;
  FIRN_ASSIGN(node.target, ToArrowField(target));
  const FileField* source = FindFileField(file, target.id);
  if (source == nullptr || source->leaves.empty() || target.type->id() == TypeId::kUnknown) {
    return MakeMissing(target, std::move(node), constants);
  }
  FIRN_TRY(MakeStored(target, *source, node, leaves));
  return node;
}

Result<Projection::Node> Projection::MakeMissing(const NestedField& target, Node node,
                                                 const std::map<int32_t, Literal>& constants) {
  if (const auto constant = constants.find(target.id); constant != constants.end()) {
    node.constant = constant->second;
  } else if (target.initial_default != nullptr) {
    node.constant = *target.initial_default;
  } else if (target.required) {
    return Error(ErrorKind::kCorrupt, "required column '" + target.name + "' (field id " +
                                          std::to_string(target.id) +
                                          ") is not in the file and has no default");
  }
  return node;
}

Status Projection::MakeStored(const NestedField& target, const FileField& source, Node& node,
                              std::vector<int>& leaves) {
  FIRN_TRY(CheckReadable(target, source));
  node.stored = true;
  node.source = source.name;
  if (target.type->is_primitive()) {
    leaves.insert(leaves.end(), source.leaves.begin(), source.leaves.end());
    return Ok();
  }
  const size_t before = leaves.size();
  for (const NestedField& child : target.type->fields()) {
    FIRN_ASSIGN_CTX(Node child_node, MakeNode(child, source.children, {}, leaves),
                    "column '" + target.name + "'");
    node.children.push_back(std::move(child_node));
  }
  if (leaves.size() == before)
    leaves.push_back(source.leaves.front());  // something must tell where it is null
  return Ok();
}

Result<ArrayPtr> Projection::Missing(const Node& node, int64_t length, arrow::MemoryPool* pool) {
  if (node.constant.has_value()) return ConstantArray(*node.constant, length, pool);
  FIRN_ARROW_ASSIGN(auto nulls, arrow::MakeArrayOfNull(node.target->type(), length, pool));
  return nulls;
}

Result<ArrayPtr> Projection::Convert(const Node& node, const ArrayPtr& source, arrow::MemoryPool* pool) {
  switch (node.target->type()->id()) {
    case arrow::Type::STRUCT:
      return ConvertStruct(node, *source, pool);
    case arrow::Type::LIST:
      return ConvertList(node, source, pool);
    case arrow::Type::MAP:
      return ConvertMap(node, *source, pool);
    default:
      return Promote(source, node.target->type(), pool);
  }
}

Result<ArrayPtr> Projection::ConvertStruct(const Node& node, const arrow::Array& source,
                                           arrow::MemoryPool* pool) {
  const auto& array = static_cast<const arrow::StructArray&>(source);
  arrow::ArrayVector children;
  for (const Node& child : node.children) {
    const ArrayPtr stored = child.stored ? array.GetFieldByName(child.source) : nullptr;
    FIRN_ASSIGN(ArrayPtr converted,
                stored != nullptr ? Convert(child, stored, pool) : Missing(child, array.length(), pool));
    children.push_back(std::move(converted));
  }
  FIRN_ASSIGN(auto validity, Validity(source, pool));
  return std::make_shared<arrow::StructArray>(node.target->type(), array.length(), std::move(children),
                                              std::move(validity), array.null_count());
}

Result<ArrayPtr> Projection::ConvertList(const Node& node, ArrayPtr source, arrow::MemoryPool* pool) {
  if (source->type_id() != arrow::Type::LIST) {
    FIRN_ASSIGN(source, CastArray(source, arrow::list(source->type()->field(0)), pool));
  }
  FIRN_ASSIGN(const ArrayPtr elements,
              Convert(node.children[0], static_cast<const arrow::ListArray&>(*source).values(), pool));
  const auto data = source->data()->Copy();
  data->type = node.target->type();
  data->child_data = {elements->data()};
  return arrow::MakeArray(data);
}

Result<ArrayPtr> Projection::ConvertMap(const Node& node, const arrow::Array& source,
                                        arrow::MemoryPool* pool) {
  const auto& map = static_cast<const arrow::MapArray&>(source);
  FIRN_ASSIGN(ArrayPtr keys, Convert(node.children[0], map.keys(), pool));
  const Node& value = node.children[1];
  FIRN_ASSIGN(ArrayPtr values,
              value.stored ? Convert(value, map.items(), pool) : Missing(value, keys->length(), pool));
  const auto& type = static_cast<const arrow::MapType&>(*node.target->type());
  const int64_t entries = keys->length();
  const auto pairs = std::make_shared<arrow::StructArray>(
      type.value_type(), entries, arrow::ArrayVector{std::move(keys), std::move(values)});
  const auto data = source.data()->Copy();
  data->type = node.target->type();
  data->child_data = {pairs->data()};
  return arrow::MakeArray(data);
}

Result<std::shared_ptr<arrow::RecordBatch>> Projection::Apply(const arrow::RecordBatch* rows, int64_t length,
                                                              arrow::MemoryPool* pool) const {
  arrow::ArrayVector columns;
  for (const Node& node : columns_) {
    const ArrayPtr stored = node.stored && rows != nullptr ? rows->GetColumnByName(node.source) : nullptr;
    FIRN_ASSIGN_CTX(ArrayPtr column,
                    stored != nullptr ? Convert(node, stored, pool) : Missing(node, length, pool),
                    "column '" + node.target->name() + "'");
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(arrow_schema_, length, std::move(columns));
}

namespace {

FileField AsFileField(const NestedField& field, std::shared_ptr<arrow::DataType> type, int leaf) {
  FileField result{.id = field.id, .name = field.name, .type = std::move(type), .leaves = {leaf}};
  for (size_t i = 0; i < field.type->fields().size(); ++i) {
    const bool is_map = field.type->id() == TypeId::kMap;
    auto child = is_map ? result.type->field(0)->type()->field(static_cast<int>(i))->type()
                        : result.type->field(static_cast<int>(i))->type();
    result.children.push_back(AsFileField(field.type->fields()[i], std::move(child), leaf));
  }
  return result;
}

/// The part of `field` that encloses any of `ids`; null when there is none.
std::optional<NestedField> PruneField(const NestedField& field, const std::set<int32_t>& ids) {
  if (ids.contains(field.id) || field.type->is_primitive()) {
    return ids.contains(field.id) ? std::optional(field) : std::nullopt;
  }
  std::vector<NestedField> kept;
  for (const NestedField& child : field.type->fields()) {
    if (auto pruned = PruneField(child, ids)) kept.push_back(std::move(*pruned));
  }
  if (kept.empty()) return std::nullopt;
  NestedField result = field;
  const Type& type = *field.type;
  if (type.id() == TypeId::kStruct) {
    result.type = Type::Struct(std::move(kept));
  } else if (type.id() == TypeId::kList) {
    result.type = Type::List(type.element().id, type.element().required, kept[0].type);
  } else if (kept.back().id == type.value().id) {  // keys are always whole
    result.type =
        Type::Map(type.key().id, type.key().type, type.value().id, type.value().required, kept.back().type);
  }
  return result;
}

}  // namespace

Result<std::shared_ptr<arrow::RecordBatch>> SelectFields(const arrow::RecordBatch& rows, const Schema& source,
                                                         const Schema& target, arrow::MemoryPool* pool) {
  std::vector<FileField> fields;
  for (size_t i = 0; i < source.fields().size(); ++i) {
    fields.push_back(
        AsFileField(source.fields()[i], rows.column(static_cast<int>(i))->type(), static_cast<int>(i)));
  }
  FIRN_ASSIGN(const Projection projection, Projection::Make(target, fields, {}));
  return projection.Apply(&rows, rows.num_rows(), pool);
}

SchemaPtr PruneSchema(const Schema& schema, const std::vector<int32_t>& ids) {
  const std::set<int32_t> wanted(ids.begin(), ids.end());
  std::vector<NestedField> fields;
  std::set<int32_t> taken;
  for (const int32_t id : ids) {
    for (const NestedField& column : schema.fields()) {
      auto pruned = PruneField(column, {id});
      if (!pruned.has_value() || !taken.insert(column.id).second) continue;
      fields.push_back(std::move(*PruneField(column, wanted)));
    }
  }
  return std::make_shared<const Schema>(schema.schema_id(), std::move(fields));
}

}  // namespace firn::iceberg
