#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "firn/iceberg/model/property.h"
#include "firn/iceberg/model/update.h"

namespace firn::iceberg {

namespace {

/// Old field id to new one; ids that the definition uses more than once cannot be referred to and map to
/// nothing.
using IdMap = std::map<int32_t, std::optional<int32_t>>;

IdMap MapIds(const Schema& given, const Schema& fresh) {
  std::vector<int32_t> new_ids;
  VisitFields(*fresh.as_struct(), [&](const NestedField& field) { new_ids.push_back(field.id); });
  IdMap ids;
  size_t at = 0;
  VisitFields(*given.as_struct(), [&](const NestedField& field) {
    const auto [it, is_new] = ids.emplace(field.id, new_ids[at++]);
    if (!is_new) it->second.reset();
  });
  return ids;
}

Result<int32_t> NewSourceId(const IdMap& ids, int32_t source_id) {
  const auto it = ids.find(source_id);
  if (it != ids.end() && it->second) return *it->second;
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("source id {} names no single column of the schema", source_id));
}

Status CheckProperties(const Properties& properties) {
  for (const auto& [name, value] : properties) {
    if (IsReservedProperty(name))
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("table property '{}' is reserved by Iceberg", name));
  }
  return Ok();
}

Status PlaceSchema(const NewTable& table, TableMetadata& metadata, IdMap& ids) {
  int32_t next_id = 1;
  SchemaPtr schema =
      table.keep_field_ids ? table.schema->WithId(0) : AssignFreshIds(*table.schema, next_id)->WithId(0);
  FIRN_TRY(ValidateSchema(*schema, metadata.format_version));
  ids = MapIds(*table.schema, *schema);
  metadata.last_column_id = schema->highest_field_id();
  metadata.schemas.push_back(std::move(schema));
  return Ok();
}

Status PlaceSpec(const NewTable& table, const IdMap& ids, TableMetadata& metadata) {
  PartitionSpec spec = table.spec;
  spec.spec_id = 0;
  for (PartitionField& field : spec.fields) {
    FIRN_ASSIGN_CTX(field.source_id, NewSourceId(ids, field.source_id),
                    fmt::format("partition field '{}'", field.name));
    if (!table.keep_field_ids || field.field_id == 0) field.field_id = ++metadata.last_partition_id;
    metadata.last_partition_id = std::max(metadata.last_partition_id, field.field_id);
  }
  FIRN_TRY(ValidatePartitionSpec(spec, *metadata.schema()));
  metadata.partition_specs.push_back(std::move(spec));
  return Ok();
}

Status PlaceSortOrder(const NewTable& table, const IdMap& ids, TableMetadata& metadata) {
  SortOrder order = table.order;
  order.order_id = order.is_sorted() ? 1 : 0;
  for (SortField& field : order.fields) {
    FIRN_ASSIGN_CTX(field.source_id, NewSourceId(ids, field.source_id), "sort order");
  }
  FIRN_TRY(ValidateSortOrder(order, *metadata.schema()));
  metadata.default_sort_order_id = order.order_id;
  metadata.sort_orders.push_back(std::move(order));
  return Ok();
}

}  // namespace

Result<TableMetadata> NewTableMetadata(const NewTable& table, int64_t now_ms) {
  if (table.format_version != 2 && table.format_version != 3) {
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("tables are created in format version 2 or 3, not {}", table.format_version));
  }
  if (table.schema == nullptr || table.uuid.empty() || table.location.empty()) {
    return Error(ErrorKind::kInvalidArgument, "a new table needs a schema, a UUID and a location");
  }
  FIRN_TRY(CheckProperties(table.properties));
  TableMetadata metadata;
  metadata.format_version = table.format_version;
  metadata.table_uuid = table.uuid;
  metadata.location = table.location;
  while (metadata.location.size() > 1 && metadata.location.ends_with('/')) metadata.location.pop_back();
  metadata.last_updated_ms = now_ms;
  metadata.properties = table.properties;
  metadata.properties.emplace(property::kParquetCompression.name, "zstd");
  IdMap ids;
  FIRN_TRY(PlaceSchema(table, metadata, ids));
  FIRN_TRY(PlaceSpec(table, ids, metadata));
  FIRN_TRY(PlaceSortOrder(table, ids, metadata));
  return metadata;
}

}  // namespace firn::iceberg
