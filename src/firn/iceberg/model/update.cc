#include "firn/iceberg/model/update.h"

#include <algorithm>
#include <limits>
#include <set>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/iceberg/model/json_access.h"
#include "firn/iceberg/model/property.h"

namespace firn::iceberg {

namespace {

constexpr int32_t kLastAdded = -1;
constexpr int kMaxFormatVersion = 3;

Error Invalid(std::string message) { return Error(ErrorKind::kInvalidArgument, std::move(message)); }

/// The id after the highest one in use (-1: none).
Result<int32_t> NextId(int32_t highest) {
  if (highest == std::numeric_limits<int32_t>::max()) return Invalid("the table has used up its ids");
  return highest + 1;
}

void DropStatistics(nlohmann::json& list, const std::set<int64_t>& snapshot_ids) {
  if (!list.is_array()) return;
  nlohmann::json kept = nlohmann::json::array();
  for (nlohmann::json& entry : list) {
    const Result<int64_t> id =
        entry.is_object() ? GetInt64(entry, "snapshot-id") : Error(ErrorKind::kCorrupt, "not an object");
    if (!id.ok() || !snapshot_ids.contains(*id)) kept.push_back(std::move(entry));
  }
  list = std::move(kept);
}

/// Applies updates one after the other to a copy of the base; Finish does what depends on all of them.
class MetadataBuilder {
 public:
  MetadataBuilder(const TableMetadata& base, const ApplyContext& context)
      : base_(base), context_(context), next_(base) {
    now_ms_ = std::max(context.now_ms, base.last_updated_ms);
    if (!base.snapshot_log.empty()) now_ms_ = std::max(now_ms_, base.snapshot_log.back().timestamp_ms);
    for (const Snapshot& snapshot : base.snapshots) snapshot_ids_.insert(snapshot.snapshot_id);
  }

  Status Apply(const update::AssignUuid& u) {
    if (u.uuid.empty()) return Invalid("the UUID is empty");
    if (!next_.table_uuid.empty() && next_.table_uuid != u.uuid) {
      return Invalid(
          fmt::format("the table has the UUID {} already and cannot become {}", next_.table_uuid, u.uuid));
    }
    next_.table_uuid = u.uuid;
    return Ok();
  }

  Status Apply(const update::UpgradeFormatVersion& u) {
    if (u.format_version > kMaxFormatVersion)
      return Invalid(fmt::format("format version {} is newer than {}", u.format_version, kMaxFormatVersion));
    if (u.format_version < next_.format_version) {
      return Invalid(fmt::format("a table of format version {} cannot go back to {}", next_.format_version,
                                 u.format_version));
    }
    next_.format_version = u.format_version;
    return Ok();
  }

  Status Apply(const update::AddSchema& u) {
    if (u.schema == nullptr) return Invalid("no schema given");
    FIRN_TRY(CheckTypes(*u.schema));
    const auto same =
        std::ranges::find_if(next_.schemas, [&](const SchemaPtr& s) { return s->SameFields(*u.schema); });
    if (same != next_.schemas.end()) {
      last_added_schema_ = (*same)->schema_id();
      return Ok();
    }
    int32_t highest = -1;
    for (const SchemaPtr& schema : next_.schemas) highest = std::max(highest, schema->schema_id());
    FIRN_ASSIGN(const int32_t id, NextId(highest));
    next_.schemas.push_back(u.schema->WithId(id));
    next_.last_column_id = std::max(next_.last_column_id, u.schema->highest_field_id());
    last_added_schema_ = id;
    return Ok();
  }

  Status Apply(const update::SetCurrentSchema& u) {
    FIRN_ASSIGN(const int32_t id, Resolve(u.schema_id, last_added_schema_));
    if (next_.FindSchema(id) == nullptr) return Invalid(fmt::format("there is no schema {}", id));
    next_.current_schema_id = id;
    return Ok();
  }

  Status Apply(const update::AddPartitionSpec& u) {
    FIRN_TRY(ValidatePartitionSpec(u.spec, *next_.schema()));
    int32_t highest = -1;
    for (const PartitionSpec& spec : next_.partition_specs) {
      if (spec.IsCompatible(u.spec)) {
        last_added_spec_ = spec.spec_id;
        return Ok();
      }
      highest = std::max(highest, spec.spec_id);
    }
    FIRN_ASSIGN(const int32_t id, NextId(highest));
    PartitionSpec spec = u.spec;
    spec.spec_id = id;
    for (PartitionField& field : spec.fields) {
      if (field.field_id == 0) {
        FIRN_ASSIGN(field.field_id, FieldIdFor(field));
      }
      next_.last_partition_id = std::max(next_.last_partition_id, field.field_id);
    }
    next_.partition_specs.push_back(std::move(spec));
    last_added_spec_ = id;
    return Ok();
  }

  Status Apply(const update::SetDefaultSpec& u) {
    FIRN_ASSIGN(const int32_t id, Resolve(u.spec_id, last_added_spec_));
    if (next_.FindSpec(id) == nullptr) return Invalid(fmt::format("there is no partition spec {}", id));
    next_.default_spec_id = id;
    return Ok();
  }

  Status Apply(const update::AddSortOrder& u) {
    SortOrder order = u.order;
    order.order_id = order.is_sorted() ? 1 : 0;
    FIRN_TRY(ValidateSortOrder(order, *next_.schema()));
    int32_t highest = 0;
    for (const SortOrder& known : next_.sort_orders) {
      if (known.fields == order.fields) {
        last_added_order_ = known.order_id;
        return Ok();
      }
      highest = std::max(highest, known.order_id);
    }
    if (order.is_sorted()) {
      FIRN_ASSIGN(order.order_id, NextId(highest));
    }
    last_added_order_ = order.order_id;
    next_.sort_orders.push_back(std::move(order));
    return Ok();
  }

  Status Apply(const update::SetDefaultSortOrder& u) {
    FIRN_ASSIGN(const int32_t id, Resolve(u.order_id, last_added_order_));
    if (next_.FindSortOrder(id) == nullptr) return Invalid(fmt::format("there is no sort order {}", id));
    next_.default_sort_order_id = id;
    return Ok();
  }

  Status Apply(const update::AddSnapshot& u) {
    const Snapshot& snapshot = u.snapshot;
    FIRN_TRY(CheckSnapshot(snapshot));
    if (next_.format_version >= 3) {
      FIRN_TRY(CheckRowIds(snapshot));
      next_.next_row_id = *snapshot.first_row_id + *snapshot.added_rows;
    }
    next_.last_sequence_number = std::max(next_.last_sequence_number, snapshot.sequence_number);
    now_ms_ = std::max(now_ms_, snapshot.timestamp_ms);
    next_.snapshots.push_back(snapshot);
    snapshot_ids_.insert(snapshot.snapshot_id);
    added_snapshots_.insert(snapshot.snapshot_id);
    return Ok();
  }

  Status Apply(const update::SetSnapshotRef& u) {
    const Snapshot* snapshot =
        snapshot_ids_.contains(u.ref.snapshot_id) ? next_.FindSnapshot(u.ref.snapshot_id) : nullptr;
    if (snapshot == nullptr)
      return Invalid(
          fmt::format("ref '{}' cannot point to snapshot {}, which is not there", u.name, u.ref.snapshot_id));
    if (u.name == kMainBranch && u.ref.type != RefType::kBranch) return Invalid("main must be a branch");
    const auto known = next_.refs.find(u.name);
    if (known != next_.refs.end() && known->second == u.ref) return Ok();
    if (known != next_.refs.end() && known->second.type != u.ref.type)
      return Invalid(fmt::format("ref '{}' cannot change between branch and tag", u.name));
    next_.refs[u.name] = u.ref;
    if (u.name == kMainBranch && next_.current_snapshot_id != u.ref.snapshot_id) MoveMain(*snapshot);
    return Ok();
  }

  Status Apply(const update::RemoveSnapshots& u) {
    const std::set<int64_t> ids(u.snapshot_ids.begin(), u.snapshot_ids.end());
    std::erase_if(next_.snapshots, [&](const Snapshot& s) { return ids.contains(s.snapshot_id); });
    for (const int64_t id : ids) snapshot_ids_.erase(id);
    DropStatistics(next_.statistics, ids);
    DropStatistics(next_.partition_statistics, ids);
    std::vector<std::string> dangling;
    for (const auto& [name, ref] : next_.refs) {
      if (ids.contains(ref.snapshot_id)) dangling.push_back(name);
    }
    for (const std::string& name : dangling) RemoveRef(name);
    return Ok();
  }

  Status Apply(const update::RemoveSnapshotRef& u) {
    RemoveRef(u.name);
    return Ok();
  }

  Status Apply(const update::SetProperties& u) {
    for (const auto& [name, value] : u.properties) {
      if (IsReservedProperty(name)) return Invalid(fmt::format("property '{}' is reserved by Iceberg", name));
      next_.properties[name] = value;
    }
    return Ok();
  }

  Status Apply(const update::RemoveProperties& u) {
    for (const std::string& key : u.keys) next_.properties.erase(key);
    return Ok();
  }

  Status Apply(const update::SetLocation& u) {
    if (u.location.empty()) return Invalid("the location is empty");
    next_.location = u.location;
    return Ok();
  }

  Result<TableMetadata> Finish() && {
    if (next_.format_version >= 2 && next_.table_uuid.empty())
      return Invalid("the table has no UUID: assign-uuid is needed with the upgrade");
    FIRN_TRY(ShortenSnapshotLog());
    next_.last_updated_ms = now_ms_;
    if (!context_.previous_metadata.empty()) {
      next_.metadata_log.push_back({base_.last_updated_ms, context_.previous_metadata});
    }
    FIRN_ASSIGN(const int32_t previous_max,
                GetProperty(next_.properties, property::kMetadataPreviousVersionsMax));
    const auto keep = static_cast<size_t>(std::max(1, previous_max));
    if (next_.metadata_log.size() > keep) {
      next_.metadata_log.erase(next_.metadata_log.begin(),
                               next_.metadata_log.end() - static_cast<std::ptrdiff_t>(keep));
    }
    return std::move(next_);
  }

 private:
  static Result<int32_t> Resolve(int32_t wanted, const std::optional<int32_t>& last_added) {
    if (wanted != kLastAdded) return wanted;
    if (!last_added) return Invalid("-1 means the last added, but nothing was added before");
    return *last_added;
  }

  Status CheckTypes(const Schema& schema) const {
    std::set<int32_t> ids;
    Status status = Ok();
    VisitFields(*schema.as_struct(), [&](const NestedField& field) {
      if (!status.ok()) return;
      const std::string name = schema.FullName(field.id);
      if (!ids.insert(field.id).second) status = Invalid(fmt::format("field id {} is used twice", field.id));
      if (field.type->min_format_version() > next_.format_version) {
        status = Invalid(fmt::format("column '{}' of type {} needs format version {}", name,
                                     field.type->ToString(), field.type->min_format_version()));
      }
      if (field.initial_default && next_.format_version < 3)
        status = Invalid(fmt::format("the initial default of column '{}' needs format version 3", name));
    });
    return status;
  }

  Result<int32_t> FieldIdFor(const PartitionField& wanted) const {
    for (const PartitionSpec& spec : next_.partition_specs) {
      for (const PartitionField& field : spec.fields) {
        if (field.source_id == wanted.source_id && field.transform == wanted.transform) return field.field_id;
      }
    }
    return NextId(next_.last_partition_id);
  }

  Status CheckSnapshot(const Snapshot& snapshot) const {
    if (snapshot_ids_.contains(snapshot.snapshot_id))
      return Invalid(fmt::format("snapshot {} is there already", snapshot.snapshot_id));
    if (next_.format_version >= 2 && snapshot.sequence_number <= next_.last_sequence_number &&
        snapshot.parent_snapshot_id) {
      return Invalid(fmt::format("sequence number {} is not above the table's last, {}",
                                 snapshot.sequence_number, next_.last_sequence_number));
    }
    return Ok();
  }

  Status CheckRowIds(const Snapshot& snapshot) const {
    if (!snapshot.first_row_id || !snapshot.added_rows)
      return Invalid("a snapshot of format version 3 needs first-row-id and added-rows");
    if (*snapshot.first_row_id < next_.next_row_id) {
      return Invalid(fmt::format("first-row-id {} is behind the table's next-row-id {}",
                                 *snapshot.first_row_id, next_.next_row_id));
    }
    int64_t end = 0;
    if (*snapshot.added_rows < 0 ||
        __builtin_add_overflow(*snapshot.first_row_id, *snapshot.added_rows, &end)) {
      return Invalid(fmt::format("added-rows {} is out of range", *snapshot.added_rows));
    }
    return Ok();
  }

  /// A snapshot of this commit enters the log with its own time, a rollback with the time of the commit.
  void MoveMain(const Snapshot& snapshot) {
    next_.current_snapshot_id = snapshot.snapshot_id;
    int64_t timestamp_ms = added_snapshots_.contains(snapshot.snapshot_id) ? snapshot.timestamp_ms : now_ms_;
    if (!next_.snapshot_log.empty())
      timestamp_ms = std::max(timestamp_ms, next_.snapshot_log.back().timestamp_ms);
    next_.snapshot_log.push_back({timestamp_ms, snapshot.snapshot_id});
  }

  void RemoveRef(const std::string& name) {
    if (next_.refs.erase(name) == 0 || name != kMainBranch) return;
    next_.current_snapshot_id.reset();
    next_.snapshot_log.clear();
  }

  /// Drops snapshots that were current only inside this commit, and everything up to the newest entry whose
  /// snapshot was removed.
  Status ShortenSnapshotLog() {
    auto& log = next_.snapshot_log;
    std::erase_if(log, [this](const SnapshotLogEntry& e) {
      return added_snapshots_.contains(e.snapshot_id) && e.snapshot_id != next_.current_snapshot_id;
    });
    const auto removed = std::find_if(log.rbegin(), log.rend(), [this](const SnapshotLogEntry& e) {
      return !snapshot_ids_.contains(e.snapshot_id);
    });
    log.erase(log.begin(), removed.base());
    // Another writer's inconsistent log is not made a reason to refuse its table.
    const bool was_consistent =
        base_.snapshot_log.empty() || base_.snapshot_log.back().snapshot_id == base_.current_snapshot_id;
    if (was_consistent && !log.empty() && next_.current_snapshot_id != log.back().snapshot_id) {
      return Invalid("the newest entry of the snapshot log is not the current snapshot");
    }
    return Ok();
  }

  const TableMetadata& base_;
  const ApplyContext& context_;
  TableMetadata next_;
  int64_t now_ms_ = 0;
  std::optional<int32_t> last_added_schema_;
  std::optional<int32_t> last_added_spec_;
  std::optional<int32_t> last_added_order_;
  std::set<int64_t> snapshot_ids_;
  std::set<int64_t> added_snapshots_;
};

}  // namespace

std::string_view UpdateName(const Update& update) {
  static constexpr std::string_view kNames[] = {
      "assign-uuid",    "upgrade-format-version", "add-schema",       "set-current-schema",
      "add-spec",       "set-default-spec",       "add-sort-order",   "set-default-sort-order",
      "add-snapshot",   "set-snapshot-ref",       "remove-snapshots", "remove-snapshot-ref",
      "set-properties", "remove-properties",      "set-location"};
  static_assert(std::size(kNames) == std::variant_size_v<Update>);
  return kNames[update.index()];
}

Result<TableMetadata> ApplyUpdates(const TableMetadata& base, const std::vector<Update>& updates,
                                   const ApplyContext& context) {
  if (updates.empty()) return base;
  MetadataBuilder builder(base, context);
  for (const Update& update : updates) {
    FIRN_TRY_CTX(std::visit([&builder](const auto& u) { return builder.Apply(u); }, update),
                 UpdateName(update));
  }
  return std::move(builder).Finish();
}

}  // namespace firn::iceberg
