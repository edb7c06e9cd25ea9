#include "firn/iceberg/model/table_metadata.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "firn/base/check.h"

namespace firn::iceberg {

namespace {

std::string_view WithoutTrailingSlashes(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

/// The number before the first '-' of the file name; -1 when there is none.
int64_t VersionOf(std::string_view location) {
  const std::string_view name = location.substr(location.rfind('/') + 1);
  const size_t dash = name.find('-');
  if (dash == std::string_view::npos) return -1;
  int32_t version = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + dash, version);
  return error == std::errc() && end == name.data() + dash ? version : -1;
}

const NestedField* FindInAnySchema(const TableMetadata& metadata, int32_t field_id) {
  if (const NestedField* field = metadata.schema()->FindById(field_id)) return field;
  for (auto schema = metadata.schemas.rbegin(); schema != metadata.schemas.rend(); ++schema) {
    if (const NestedField* field = (*schema)->FindById(field_id)) return field;
  }
  return nullptr;
}

}  // namespace

const SchemaPtr& TableMetadata::schema() const {
  const auto it = std::ranges::find_if(
      schemas, [this](const SchemaPtr& s) { return s->schema_id() == current_schema_id; });
  FIRN_CHECK(it != schemas.end(), "the current schema is one of the schemas");
  return *it;
}

SchemaPtr TableMetadata::FindSchema(int32_t schema_id) const {
  const auto it =
      std::ranges::find_if(schemas, [schema_id](const SchemaPtr& s) { return s->schema_id() == schema_id; });
  return it == schemas.end() ? nullptr : *it;
}

const PartitionSpec& TableMetadata::spec() const {
  const PartitionSpec* found = FindSpec(default_spec_id);
  FIRN_CHECK(found != nullptr, "the default spec is one of the specs");
  return *found;
}

const PartitionSpec* TableMetadata::FindSpec(int32_t spec_id) const {
  const auto it = std::ranges::find(partition_specs, spec_id, &PartitionSpec::spec_id);
  return it == partition_specs.end() ? nullptr : &*it;
}

const SortOrder& TableMetadata::sort_order() const {
  const SortOrder* found = FindSortOrder(default_sort_order_id);
  FIRN_CHECK(found != nullptr, "the default sort order is one of the orders");
  return *found;
}

const SortOrder* TableMetadata::FindSortOrder(int32_t order_id) const {
  const auto it = std::ranges::find(sort_orders, order_id, &SortOrder::order_id);
  return it == sort_orders.end() ? nullptr : &*it;
}

const Snapshot* TableMetadata::FindSnapshot(int64_t snapshot_id) const {
  const auto it = std::ranges::find(snapshots, snapshot_id, &Snapshot::snapshot_id);
  return it == snapshots.end() ? nullptr : &*it;
}

const Snapshot* TableMetadata::Head(std::string_view ref) const {
  const auto it = refs.find(std::string(ref));
  return it == refs.end() ? nullptr : FindSnapshot(it->second.snapshot_id);
}

Result<TypePtr> TableMetadata::PartitionType(const PartitionSpec& spec) const {
  std::vector<NestedField> sources;
  for (const PartitionField& field : spec.fields) {
    const NestedField* source = FindInAnySchema(*this, field.source_id);
    if (source != nullptr) sources.push_back(*source);
  }
  return spec.PartitionType(Schema(0, std::move(sources)));
}

std::string TableMetadata::Property(std::string_view key, std::string_view default_value) const {
  const auto it = properties.find(std::string(key));
  return it == properties.end() ? std::string(default_value) : it->second;
}

std::string NewMetadataLocation(const TableMetadata& metadata, std::string_view previous_location,
                                std::string_view uuid) {
  const std::string default_path = fmt::format("{}/metadata", WithoutTrailingSlashes(metadata.location));
  const std::string path = metadata.Property("write.metadata.path", default_path);
  const bool gzip = metadata.Property("write.metadata.compression-codec", "none") == "gzip";
  return fmt::format("{}/{:05}-{}{}.metadata.json", WithoutTrailingSlashes(path),
                     VersionOf(previous_location) + 1, uuid, gzip ? ".gz" : "");
}

}  // namespace firn::iceberg
