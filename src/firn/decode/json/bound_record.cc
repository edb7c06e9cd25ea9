#include "firn/decode/json/bound_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "firn/decode/column_mapping.h"
#include "firn/decode/evolution.h"
#include "firn/decode/field_path.h"

namespace firn::decode {

using iceberg::NestedField;
using iceberg::TypeId;

Result<std::unique_ptr<BoundRecord>> BoundRecord::Make(const BoundSchema& bound) {
  std::unique_ptr<BoundRecord> record(new BoundRecord(bound));
  FIRN_TRY(record->Bind());
  return record;
}

Status BoundRecord::Bind() {
  root_field_.name = "record";
  root_field_.required = true;
  root_field_.type = bound_.schema->as_struct();
  FIRN_ASSIGN(root_, Column::Make(root_field_, bound_.pool));
  field_count_ = CountNamedFields(*root_field_.type);
  AddShape(root_.get(), 0);
  for (const auto& child : root_->children()) FIRN_TRY(BindTopLevel(*child));
  if (bound_.unknown_fields == UnknownFields::kRescue && rescued_ == nullptr) {
    return NoRescuedColumn();
  }
  return Ok();
}

Status BoundRecord::BindTopLevel(Column& column) {
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
    KeySlot* slot = root_shape().Add(field.name, KeySlot::Action::kColumn);
    if (slot == nullptr)
      return BadMapping(field, fmt::format("another column is read from field '{}' already", field.name));
    slot->column = &column;
  } else {
    FIRN_TRY(BindPath(column, mapping->second.from));
  }
  return mapping == bound_.mappings.end() ? Ok() : BindMapping(column, mapping->second);
}

Status BoundRecord::BindPath(Column& column, std::string_view from) {
  const std::vector<std::string> parts = SplitFieldPath(from);
  if (parts.empty())
    return BadMapping(column.field(), fmt::format("from: '{}' is no path of field names", from));
  ObjectShape* shape = &root_shape();
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    KeySlot* slot = shape->Find(parts[i]);
    if (slot == nullptr) {
      slot = shape->Add(parts[i], KeySlot::Action::kObject);
      slot->object = AddShape(root_.get(), -1);
    }
    if (slot->action != KeySlot::Action::kObject) {
      return BadMapping(
          column.field(),
          fmt::format("from: '{}' leads through field '{}', which goes to column '{}' as a whole", from,
                      parts[i], slot->column->field().name));
    }
    shape = slot->object;
  }
  KeySlot* slot = shape->Add(parts.back(), KeySlot::Action::kColumn);
  if (slot == nullptr)
    return BadMapping(column.field(),
                      fmt::format("from: another column is read from '{}' (or inside it) already", from));
  slot->column = &column;
  return Ok();
}

Status BoundRecord::BindNested(Column& column, bool is_map_key) {
  const TypeId id = column.type_id();
  if (is_map_key && !column.type().is_primitive()) {
    return Error(ErrorKind::kUnsupported,
                 fmt::format("map keys of type {} cannot come from JSON", column.type().ToString()));
  }
  column.binding().may_widen = !is_map_key && MayWiden(bound_, column.field().id);
  if (id == TypeId::kStruct) BindStruct(column);
  for (size_t i = 0; i < column.children().size(); ++i) {
    FIRN_TRY_CTX(BindNested(column.child(i), id == TypeId::kMap && i == 0),
                 fmt::format("column '{}'", column.field().name));
  }
  return Ok();
}

void BoundRecord::BindStruct(Column& column) {
  ObjectShape* shape = AddShape(&column, column.field().id);
  column.binding().shape = shape;
  for (const auto& child : column.children()) {
    shape->Add(child->field().name, KeySlot::Action::kColumn)->column = child.get();
  }
}

ObjectShape* BoundRecord::AddShape(Column* owner, int32_t parent_id) {
  shapes_.push_back(std::make_unique<ObjectShape>(owner, parent_id));
  return shapes_.back().get();
}

KeySlot* BoundRecord::scalar_slot() {
  if (bound_.scalar_column.empty()) return nullptr;
  KeySlot* slot = root_shape().Find(bound_.scalar_column);
  return slot != nullptr ? slot : Remember(root_shape(), bound_.scalar_column);
}

KeySlot* BoundRecord::Remember(ObjectShape& shape, std::string_view name) {
  KeySlot* slot = shape.Remember(name);
  slot->why_not = WhyNotAddable(shape, name);
  slot->addable = slot->why_not.empty();
  return slot;
}

std::string BoundRecord::WhyNotAddable(const ObjectShape& shape, std::string_view name) const {
  if (bound_.evolution != Evolution::kNone && shape.parent_id() < 0)
    return "it lies in an object whose fields are mapped one by one";
  return decode::WhyNotAddable(bound_, shape.parent_id(), shape.owner()->type().fields(), name);
}

}  // namespace firn::decode
