#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firn/avro/schema.h"
#include "firn/base/result.h"
#include "firn/iceberg/model/type.h"

namespace firn::decode {

/// Logical types that say more than their base type does to a column. An annotation that the specification
/// does not allow on its base type counts as none, and so do decimals of more than 38 digits.
enum class AvroLogical : uint8_t {
  kNone,
  kDecimal,
  kUuid,
  kDate,
  kTime,
  kTimestamp,       ///< an instant
  kLocalTimestamp,  ///< a clock on the wall
};

AvroLogical LogicalOf(const avro::Node& node);
/// Decimal digits below a second of kTime and the timestamps: 3, 6 or 9.
int DigitsOf(const avro::Node& node);

/// The column that takes a type (docs/types.md), everything optional and without ids. A null pointer where
/// there is nothing to keep: `null`, a record without fields. kUnsupported for types that hold themselves,
/// and for ones that come to absurdly many fields.
Result<iceberg::TypePtr> ColumnTypeOf(const avro::Node& node);

/// More than one branch beside null: becomes a struct with a field for each of them.
bool IsGeneralUnion(const avro::Node& node);
/// Names of those fields by branch, empty for null: the type's name; of records, enums and fixed the short
/// one, or the full one (`_` for the dots) where two short ones are the same.
std::vector<std::string> UnionFieldNames(const avro::Node& union_node);

/// `long (timestamp-millis)` for messages.
std::string DescribeAvro(const avro::Node& node);

}  // namespace firn::decode
