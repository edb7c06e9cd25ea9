#include "firn/iceberg/model/sort_order.h"

#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/iceberg/model/field_text.h"
#include "firn/iceberg/model/json_access.h"

namespace firn::iceberg {

namespace {

using nlohmann::json;

std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

/// Takes `word` (any case) off the end when a blank stands before it.
bool TakeLastWord(std::string_view& text, std::string_view word) {
  const std::string_view trimmed = TrimRight(text);
  if (trimmed.size() <= word.size()) return false;
  const size_t start = trimmed.size() - word.size();
  if (std::isspace(static_cast<unsigned char>(trimmed[start - 1])) == 0 && trimmed[start - 1] != ')')
    return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(trimmed[start + i])) != word[i]) return false;
  }
  text = TrimRight(trimmed.substr(0, start));
  return true;
}

Result<SortField> FieldFromJson(const json& value) {
  FIRN_TRY(RequireObject(value, "sort field"));
  SortField field;
  FIRN_ASSIGN(const std::string transform, GetString(value, "transform"));
  FIRN_ASSIGN(field.transform, Transform::ParseJson(transform));
  FIRN_ASSIGN(const auto sources, FindInt32List(value, "source-ids"));
  if (sources && sources->size() > 1)
    return Error(ErrorKind::kUnsupported, "a sort field of several source columns");
  if (sources && sources->size() == 1 && FindMember(value, "source-id") == nullptr) {
    field.source_id = sources->front();
  } else {
    FIRN_ASSIGN(field.source_id, GetInt32(value, "source-id"));
  }
  FIRN_ASSIGN(const std::string direction, GetString(value, "direction"));
  if (direction != "asc" && direction != "desc")
    return Error(ErrorKind::kCorrupt, fmt::format("sort direction '{}' is neither asc nor desc", direction));
  field.direction = direction == "asc" ? SortDirection::kAsc : SortDirection::kDesc;
  FIRN_ASSIGN(const std::string nulls, GetString(value, "null-order"));
  if (nulls != "nulls-first" && nulls != "nulls-last") {
    return Error(ErrorKind::kCorrupt,
                 fmt::format("null order '{}' is neither nulls-first nor nulls-last", nulls));
  }
  field.null_order = nulls == "nulls-first" ? NullOrder::kFirst : NullOrder::kLast;
  return field;
}

}  // namespace

Result<SortField> ParseSortField(std::string_view text, const Schema& schema) {
  SortField field;
  std::string_view column = text;
  bool nulls_given = false;
  std::string_view without_place = column;
  const bool first = TakeLastWord(without_place, "first");
  const bool last = !first && TakeLastWord(without_place, "last");
  if ((first || last) && TakeLastWord(without_place, "nulls")) {
    column = without_place;
    field.null_order = first ? NullOrder::kFirst : NullOrder::kLast;
    nulls_given = true;
  }
  if (TakeLastWord(column, "desc")) {
    field.direction = SortDirection::kDesc;
  } else {
    TakeLastWord(column, "asc");
  }
  if (!nulls_given)
    field.null_order = field.direction == SortDirection::kAsc ? NullOrder::kFirst : NullOrder::kLast;
  FIRN_ASSIGN_CTX(TransformOfColumn parsed, ParseTransformOfColumn(column, schema), "sort field");
  field.source_id = parsed.source->id;
  field.transform = std::move(parsed.transform);
  return field;
}

Status ValidateSortOrder(const SortOrder& order, const Schema& schema) {
  if (order.order_id == 0 && order.is_sorted())
    return Error(ErrorKind::kInvalidArgument, "sort order 0 means unsorted and has no fields");
  if (order.order_id != 0 && !order.is_sorted())
    return Error(ErrorKind::kInvalidArgument, "a sort order without fields has the id 0");
  for (const SortField& field : order.fields) {
    const NestedField* source = schema.FindById(field.source_id);
    if (source == nullptr)
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("sort order: the schema has no field {}", field.source_id));
    if (!field.transform.CanApply(*source->type)) {
      return Error(
          ErrorKind::kInvalidArgument,
          fmt::format("sort order: {} does not take column '{}' of type {}", field.transform.ToString(),
                      schema.FullName(source->id), source->type->ToString()));
    }
  }
  return Ok();
}

json ToJson(const SortOrder& order) {
  json fields = json::array();
  for (const SortField& field : order.fields) {
    fields.push_back({{"transform", field.transform.ToString()},
                      {"source-id", field.source_id},
                      {"direction", field.direction == SortDirection::kAsc ? "asc" : "desc"},
                      {"null-order", field.null_order == NullOrder::kFirst ? "nulls-first" : "nulls-last"}});
  }
  return {{"order-id", order.order_id}, {"fields", std::move(fields)}};
}

Result<SortOrder> SortOrderFromJson(const json& value) {
  FIRN_TRY(RequireObject(value, "sort order"));
  SortOrder order;
  FIRN_ASSIGN(order.order_id, GetInt32(value, "order-id"));
  FIRN_ASSIGN(const json* fields, GetArray(value, "fields"));
  for (const json& item : *fields) {
    FIRN_ASSIGN_CTX(SortField field, FieldFromJson(item), fmt::format("fields[{}]", order.fields.size()));
    order.fields.push_back(std::move(field));
  }
  return order;
}

}  // namespace firn::iceberg
