#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "firn/base/result.h"
#include "firn/iceberg/model/schema.h"
#include "firn/iceberg/model/transform.h"

namespace firn::iceberg {

inline constexpr int32_t kFirstPartitionFieldId = 1000;

struct PartitionField {
  int32_t source_id = 0;
  int32_t field_id = 0;  ///< from 1000, unique over all specs of a table
  std::string name;
  Transform transform = Transform::Identity();
  bool operator==(const PartitionField&) const = default;
};

struct PartitionSpec {
  int32_t spec_id = 0;
  std::vector<PartitionField> fields;

  bool is_unpartitioned() const;  ///< no fields, or only void ones
  /// Same (source, transform, name) list; ids ignored.
  bool IsCompatible(const PartitionSpec& other) const;
  /// Struct type of the partition tuple: field ids of the partition fields, all optional. A source column
  /// that `schema` no longer has leaves the result type where the transform alone decides it, else type
  /// unknown; TableMetadata::PartitionType knows older schemas.
  Result<TypePtr> PartitionType(const Schema& schema) const;
  bool operator==(const PartitionSpec&) const = default;
};

/// A partition tuple: one literal (maybe null) per field of its spec, in order.
struct PartitionValues {
  std::vector<Literal> values;
  bool operator==(const PartitionValues&) const = default;
};

/// `name=value/name=value`, both URL form-encoded (our reference 3.2). Empty for an unpartitioned spec.
std::string PartitionPath(const PartitionSpec& spec, const PartitionValues& partition);

/// One text of `partition_by` (`day(ts)`, `days(ts)`, `bucket(16, id)`, `truncate(id, 4)`, `origin`),
/// resolved against a schema. Names as Java's builder gives them: ts_day, id_bucket, id_trunc, plain for
/// identity, x_null for void.
Result<PartitionField> ParsePartitionField(std::string_view text, const Schema& schema);

/// Sources exist and take their transform, names unique and not hiding a column of other meaning.
/// kInvalidArgument with all problems in one message.
Status ValidatePartitionSpec(const PartitionSpec& spec, const Schema& schema);

nlohmann::json ToJson(const PartitionSpec& spec);
nlohmann::json FieldsToJson(const PartitionSpec& spec);  ///< only the field list (manifest key-value, v1)
/// Fields without ids (v1) get 1000, 1001 ... in order.
Result<PartitionSpec> PartitionSpecFromJson(const nlohmann::json& json);
Result<std::vector<PartitionField>> PartitionFieldsFromJson(const nlohmann::json& json);

}  // namespace firn::iceberg
