#pragma once

#include <cstdint>

#include "firn/avro/binary.h"
#include "firn/base/result.h"
#include "firn/iceberg/model/partition_spec.h"
#include "firn/iceberg/model/table_metadata.h"

namespace firn::iceberg {

/// Newest schema that has all source columns of a spec (the current one first); null when none has.
SchemaPtr SchemaForSpec(const TableMetadata& metadata, const PartitionSpec& spec);

/// Struct type of a spec's tuple for reading: each source column is looked for in the current schema, then in
/// older ones (it may have been dropped since). A field whose source is nowhere has type unknown.
TypePtr PartitionTypeForReading(const TableMetadata& metadata, const PartitionSpec& spec);

/// How values of Iceberg's type `fixed` stand in a partition tuple. Avro has them without a length; Iceberg's
/// Java library (seen from 1.8 to 1.12) writes and reads them with one before, against the schema in the
/// file.
enum class FixedForm : uint8_t { kPlain, kWithLength };

/// Whether a partition tuple can hold values of type `fixed`. Firn writes none: whichever form it took, some
/// engine could not read it.
bool HasFixedField(const Type& partition_type);

/// One partition value of an Avro type into a literal of `target`; the widening that promotion allows is
/// done. A target of type unknown takes the type that the file tells. kCorrupt when value and target do not
/// fit.
Result<Literal> ReadPartitionValue(avro::BinaryReader& reader, const avro::Node& node, const TypePtr& target,
                                   FixedForm fixed_form = FixedForm::kPlain);

/// The literal as one of `target`; kInvalidArgument when it cannot be.
Result<Literal> ConvertPartitionValue(const Literal& value, const TypePtr& target);

/// A value that is not null and has the type that ManifestSchemaJson declared.
void WritePartitionValue(avro::BinaryWriter& writer, const Literal& value);

}  // namespace firn::iceberg
