#include "firn/decode/avro/record_target.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "firn/decode/column_mapping.h"
#include "firn/decode/evolution.h"
#include "firn/decode/field_path.h"

namespace firn::decode {

using iceberg::NestedField;
using iceberg::TypeId;

Result<std::unique_ptr<BoundTarget>> BoundTarget::Make(const BoundSchema& bound) {
  std::unique_ptr<BoundTarget> target(new BoundTarget(bound));
  FIRN_TRY(target->Bind());
  return target;
}

Status BoundTarget::Bind() {
  root_field_.name = "record";
  root_field_.required = true;
  root_field_.type = bound_.schema->as_struct();
  FIRN_ASSIGN(root_, Column::Make(root_field_, bound_.pool));
  field_count_ = CountNamedFields(*root_field_.type);
  for (const auto& child : root_->children()) FIRN_TRY(BindTopLevel(*child));
  if (bound_.unknown_fields != UnknownFields::kRescue || rescued_ != nullptr) return Ok();
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("unknown fields are to be rescued, but the table has no column '{}'",
                           kRescuedColumn))
      .WithRemedy(fmt::format("Add an optional string column '{}', or choose another unknown_fields.",
                              kRescuedColumn));
}

Status BoundTarget::BindTopLevel(Column& column) {
  const NestedField& field = column.field();
  if (bound_.unknown_fields == UnknownFields::kRescue && field.name == kRescuedColumn) {
    FIRN_TRY(CheckRescuedColumn(field));
    rescued_ = &column;
    return Ok();
  }
  if (field.name == kKafkaColumn) return Ok();  // no field of a record goes there
  FIRN_TRY(BindNested(column, false));
  const auto mapping = bound_.mappings.find(field.id);
  if (mapping == bound_.mappings.end() || mapping->second.from.empty()) {
    const auto [entry, is_new] = record_.fields.try_emplace(field.name);
    if (!is_new)
      return BadMapping(field, fmt::format("another column is read from field '{}' already", field.name));
    entry->second.column = &column;
  } else {
    FIRN_TRY(BindPath(column, mapping->second.from));
  }
  return mapping == bound_.mappings.end() ? Ok() : BindMapping(column, mapping->second);
}

Status BoundTarget::BindPath(Column& column, std::string_view from) {
  const std::vector<std::string> parts = SplitFieldPath(from);
  if (parts.empty())
    return BadMapping(column.field(), fmt::format("from: '{}' is no path of field names", from));
  RecordTarget* record = &record_;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    RecordTarget::Field& field = record->fields[parts[i]];
    if (field.column != nullptr) {
      return BadMapping(
          column.field(),
          fmt::format("from: '{}' leads through field '{}', which goes to column '{}' as a whole", from,
                      parts[i], field.column->field().name));
    }
    if (field.record == nullptr) {
      field.record = std::make_unique<RecordTarget>();
      field.record->parent_id = -1;
    }
    record = field.record.get();
  }
  const auto [entry, is_new] = record->fields.try_emplace(parts.back());
  if (!is_new)
    return BadMapping(column.field(),
                      fmt::format("from: another column is read from '{}' (or inside it) already", from));
  entry->second.column = &column;
  return Ok();
}

Status BoundTarget::BindNested(Column& column, bool is_map_key) {
  if (is_map_key && !column.type().is_primitive()) {
    return Error(ErrorKind::kUnsupported,
                 fmt::format("map keys of type {} cannot come from Avro, whose keys are text",
                             column.type().ToString()));
  }
  column.binding().may_widen = !is_map_key && MayWiden(bound_, column.field().id);
  for (size_t i = 0; i < column.children().size(); ++i) {
    FIRN_TRY_CTX(BindNested(column.child(i), column.type_id() == TypeId::kMap && i == 0),
                 fmt::format("column '{}'", column.field().name));
  }
  return Ok();
}

}  // namespace firn::decode
