#include "firn/iceberg/model/update_json.h"

#include <nlohmann/json.hpp>

namespace firn::iceberg {

namespace {

using nlohmann::json;

/// Fields without an id get one from whoever applies the update.
json UnboundSpec(const PartitionSpec& spec) {
  json value = ToJson(spec);
  for (json& field : value["fields"]) {
    if (field.value("field-id", 0) == 0) field.erase("field-id");
  }
  return value;
}

/// Writes the fields of an update beside its `action`.
class UpdateWriter {
 public:
  UpdateWriter(json& out, int format_version) : out_(out), format_version_(format_version) {}

  void operator()(const update::AssignUuid& u) { out_["uuid"] = u.uuid; }
  void operator()(const update::UpgradeFormatVersion& u) { out_["format-version"] = u.format_version; }
  void operator()(const update::AddSchema& u) {
    out_["schema"] = ToJson(*u.schema);
    out_["last-column-id"] = u.schema->highest_field_id();  // servers of before 1.7 ask for it
  }
  void operator()(const update::SetCurrentSchema& u) { out_["schema-id"] = u.schema_id; }
  void operator()(const update::AddPartitionSpec& u) { out_["spec"] = UnboundSpec(u.spec); }
  void operator()(const update::SetDefaultSpec& u) { out_["spec-id"] = u.spec_id; }
  void operator()(const update::AddSortOrder& u) { out_["sort-order"] = ToJson(u.order); }
  void operator()(const update::SetDefaultSortOrder& u) { out_["sort-order-id"] = u.order_id; }
  void operator()(const update::AddSnapshot& u) { out_["snapshot"] = ToJson(u.snapshot, format_version_); }
  void operator()(const update::SetSnapshotRef& u) {
    out_.update(ToJson(u.ref));
    out_["ref-name"] = u.name;
  }
  void operator()(const update::RemoveSnapshots& u) { out_["snapshot-ids"] = u.snapshot_ids; }
  void operator()(const update::RemoveSnapshotRef& u) { out_["ref-name"] = u.name; }
  void operator()(const update::SetProperties& u) { out_["updates"] = u.properties; }
  void operator()(const update::RemoveProperties& u) { out_["removals"] = u.keys; }
  void operator()(const update::SetLocation& u) { out_["location"] = u.location; }

 private:
  json& out_;
  int format_version_;
};

struct RequirementWriter {
  json operator()(const requirement::TableDoesNotExist&) const { return {{"type", "assert-create"}}; }
  json operator()(const requirement::TableUuid& r) const {
    return {{"type", "assert-table-uuid"}, {"uuid", r.uuid}};
  }
  json operator()(const requirement::RefSnapshotId& r) const {
    json value = {{"type", "assert-ref-snapshot-id"}, {"ref", r.ref}, {"snapshot-id", nullptr}};
    if (r.snapshot_id) value["snapshot-id"] = *r.snapshot_id;
    return value;
  }
  json operator()(const requirement::LastAssignedFieldId& r) const {
    return {{"type", "assert-last-assigned-field-id"}, {"last-assigned-field-id", r.id}};
  }
  json operator()(const requirement::CurrentSchemaId& r) const {
    return {{"type", "assert-current-schema-id"}, {"current-schema-id", r.id}};
  }
  json operator()(const requirement::LastAssignedPartitionId& r) const {
    return {{"type", "assert-last-assigned-partition-id"}, {"last-assigned-partition-id", r.id}};
  }
  json operator()(const requirement::DefaultSpecId& r) const {
    return {{"type", "assert-default-spec-id"}, {"default-spec-id", r.id}};
  }
  json operator()(const requirement::DefaultSortOrderId& r) const {
    return {{"type", "assert-default-sort-order-id"}, {"default-sort-order-id", r.id}};
  }
};

}  // namespace

json ToJson(const Update& update, int format_version) {
  json value = {{"action", UpdateName(update)}};
  std::visit(UpdateWriter(value, format_version), update);
  return value;
}

json ToJson(const Requirement& requirement) { return std::visit(RequirementWriter{}, requirement); }

}  // namespace firn::iceberg
