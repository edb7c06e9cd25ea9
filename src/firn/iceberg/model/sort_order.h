#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "firn/base/result.h"
#include "firn/iceberg/model/schema.h"
#include "firn/iceberg/model/transform.h"

namespace firn::iceberg {

enum class SortDirection : uint8_t { kAsc, kDesc };
enum class NullOrder : uint8_t { kFirst, kLast };

struct SortField {
  int32_t source_id = 0;
  Transform transform = Transform::Identity();
  SortDirection direction = SortDirection::kAsc;
  NullOrder null_order = NullOrder::kFirst;
  bool operator==(const SortField&) const = default;
};

/// Order 0 is "unsorted" and has no fields.
struct SortOrder {
  int32_t order_id = 0;
  std::vector<SortField> fields;
  bool is_sorted() const { return !fields.empty(); }
  bool operator==(const SortOrder&) const = default;
};

/// `origin`, `origin desc`, `bucket(8, id) asc nulls last`; default asc with nulls first, desc with nulls
/// last.
Result<SortField> ParseSortField(std::string_view text, const Schema& schema);
Status ValidateSortOrder(const SortOrder& order, const Schema& schema);

nlohmann::json ToJson(const SortOrder& order);
Result<SortOrder> SortOrderFromJson(const nlohmann::json& json);

}  // namespace firn::iceberg
