#include <type_traits>

#include <fmt/format.h>

#include "firn/iceberg/model/update.h"

namespace firn::iceberg {

namespace {

std::string Text(const std::optional<int64_t>& snapshot_id) {
  return snapshot_id ? fmt::format("{}", *snapshot_id) : "none";
}

template <typename T>
Status Expect(std::string_view name, const T& required, const T& found) {
  if (required == found) return Ok();
  return Error(ErrorKind::kConflict,
               fmt::format("requirement {} failed: expected {}, the table has {}", name, required, found));
}

Status Check(const TableMetadata& base, const Requirement& wanted) {
  return std::visit(
      [&base]<typename T>(const T& r) -> Status {
        namespace req = requirement;
        if constexpr (std::is_same_v<T, req::TableDoesNotExist>) {
          return Error(ErrorKind::kConflict, "requirement assert-create failed: the table exists");
        } else if constexpr (std::is_same_v<T, req::TableUuid>) {
          return Expect("assert-table-uuid", r.uuid, base.table_uuid);
        } else if constexpr (std::is_same_v<T, req::RefSnapshotId>) {
          const auto ref = base.refs.find(r.ref);
          const auto found = ref == base.refs.end() ? std::nullopt : std::optional(ref->second.snapshot_id);
          return Expect(fmt::format("assert-ref-snapshot-id of '{}'", r.ref), Text(r.snapshot_id),
                        Text(found));
        } else if constexpr (std::is_same_v<T, req::LastAssignedFieldId>) {
          return Expect("assert-last-assigned-field-id", r.id, base.last_column_id);
        } else if constexpr (std::is_same_v<T, req::CurrentSchemaId>) {
          return Expect("assert-current-schema-id", r.id, base.current_schema_id);
        } else if constexpr (std::is_same_v<T, req::LastAssignedPartitionId>) {
          return Expect("assert-last-assigned-partition-id", r.id, base.last_partition_id);
        } else if constexpr (std::is_same_v<T, req::DefaultSpecId>) {
          return Expect("assert-default-spec-id", r.id, base.default_spec_id);
        } else {
          static_assert(std::is_same_v<T, req::DefaultSortOrderId>);
          return Expect("assert-default-sort-order-id", r.id, base.default_sort_order_id);
        }
      },
      wanted);
}

}  // namespace

Status CheckRequirements(const TableMetadata* base, const std::vector<Requirement>& requirements) {
  for (const Requirement& wanted : requirements) {
    if (base != nullptr) {
      FIRN_TRY(Check(*base, wanted));
    } else if (!std::holds_alternative<requirement::TableDoesNotExist>(wanted)) {
      return Error(ErrorKind::kConflict, "requirement failed: the table does not exist");
    }
  }
  return Ok();
}

}  // namespace firn::iceberg
