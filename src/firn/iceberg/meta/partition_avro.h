#pragma once

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

/// One partition value of an Avro type into a literal of `target`; the widening that promotion allows is
/// done. A target of type unknown takes the type that the file tells. kCorrupt when value and target do not
/// fit.
Result<Literal> ReadPartitionValue(avro::BinaryReader& reader, const avro::Node& node, const TypePtr& target);

/// The literal as one of `target`; kInvalidArgument when it cannot be.
Result<Literal> ConvertPartitionValue(const Literal& value, const TypePtr& target);

/// A value that is not null and has the type that ManifestSchemaJson declared.
void WritePartitionValue(avro::BinaryWriter& writer, const Literal& value);

}  // namespace firn::iceberg
