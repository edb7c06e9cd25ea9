#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "firn/base/result.h"
#include "firn/iceberg/model/schema.h"

namespace firn::iceberg {

/// Metadata key of an arrow::Field that holds its Iceberg field id; Parquet writes and reads it as the
/// column's field id.
inline constexpr char kFieldIdKey[] = "PARQUET:field_id";

/// How Firn keeps Iceberg types in memory:
///   boolean, int32, int64, float32, float64, decimal128(p, s), date32, time64[us], timestamp[us] and
///   timestamp[us, UTC]
///   ([ns] for the v3 types), utf8, binary, fixed_size_binary(16) for uuid, fixed_size_binary(L) for fixed,
///   struct, list<element>, map<key, value>, null for unknown.
/// variant, geometry and geography are kUnsupported.
Result<std::shared_ptr<arrow::DataType>> ToArrowType(const Type& type);
/// Nullable unless required, with the field id in the metadata (list elements, map keys and values have
/// theirs too).
Result<std::shared_ptr<arrow::Field>> ToArrowField(const NestedField& field);
Result<std::shared_ptr<arrow::Schema>> ToArrowSchema(const Schema& schema);

/// The Iceberg type that holds every value of an Arrow type exactly (large and view variants, dictionaries
/// and small integers included); kUnsupported where there is none. Ids of children come from their metadata,
/// 0 where they have none.
Result<TypePtr> FromArrowType(const arrow::DataType& type);
Result<NestedField> FromArrowField(const arrow::Field& field);
Result<SchemaPtr> FromArrowSchema(const arrow::Schema& schema);

/// Empty when the field carries no id (or one that is no number).
std::optional<int32_t> FieldIdOf(const arrow::Field& field);

}  // namespace firn::iceberg
