#include "firn/decode/csv/layout.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>

#include "firn/decode/column_mapping.h"
#include "firn/decode/evolution.h"
#include "firn/decode/reasons.h"

namespace firn::decode {

using iceberg::NestedField;

namespace {

/// A field's name as `from:` has it, where a backslash keeps a dot from being a path. CSV knows no paths.
std::string PlainName(std::string_view from) {
  std::string name;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == '\\' && i + 1 < from.size()) ++i;
    name += from[i];
  }
  return name;
}

}  // namespace

Result<std::unique_ptr<CsvColumns>> CsvColumns::Make(const BoundSchema& bound) {
  std::unique_ptr<CsvColumns> columns(new CsvColumns(bound));
  FIRN_TRY(columns->Bind());
  return columns;
}

Status CsvColumns::Bind() {
  root_field_.name = "record";
  root_field_.required = true;
  root_field_.type = bound_.schema->as_struct();
  FIRN_ASSIGN(root_, Column::Make(root_field_, bound_.pool));
  field_count_ = CountNamedFields(*root_field_.type);
  for (const auto& child : root_->children()) FIRN_TRY(BindColumn(*child));
  if (bound_.unknown_fields == UnknownFields::kRescue && rescued_ == nullptr) return NoRescuedColumn();
  return Ok();
}

Status CsvColumns::BindColumn(Column& column) {
  const NestedField& field = column.field();
  if (field.name == kKafkaColumn) return Ok();
  if (bound_.unknown_fields == UnknownFields::kRescue && field.name == kRescuedColumn) {
    FIRN_TRY(CheckRescuedColumn(field));
    rescued_ = &column;
    return Ok();
  }
  const auto mapping = bound_.mappings.find(field.id);
  const bool mapped = mapping != bound_.mappings.end();
  const std::string name =
      mapped && !mapping->second.from.empty() ? PlainName(mapping->second.from) : field.name;
  if (!by_name_.emplace(name, &column).second)
    return BadMapping(field, fmt::format("another column is read from field '{}' already", name));
  column.binding().may_widen = MayWiden(bound_, field.id);
  return mapped ? BindMapping(column, mapping->second) : Ok();
}

bool CsvColumns::Arrange(const std::vector<std::string>& names, std::vector<CsvTarget>* targets,
                         Failure* failure) {
  targets->clear();
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!name.empty() && !seen.insert(name).second) {
      *failure = {reason::kBadHeader, fmt::format("the header has '{}' twice", name)};
      return false;
    }
    CsvTarget target{name};
    if (const auto found = by_name_.find(name); found != by_name_.end()) {
      target.column = found->second;
    } else {
      target.why_not = WhyNotAddable(bound_, 0, bound_.schema->fields(), name);
      target.addable = target.why_not.empty();
    }
    targets->push_back(std::move(target));
  }
  return true;
}

std::vector<CsvTarget> CsvColumns::InTableOrder() {
  std::vector<CsvTarget> targets;
  for (const auto& child : root_->children()) {
    if (child.get() == rescued_ || child->field().name == kKafkaColumn) continue;
    targets.push_back({child->field().name, child.get(), false, {}});
  }
  return targets;
}

}  // namespace firn::decode
