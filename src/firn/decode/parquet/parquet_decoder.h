#pragma once

#include <memory>
#include <vector>

#include "firn/decode/decoder.h"
#include "firn/decode/inferred_schema.h"

namespace firn::decode {

/// How columns of a file are found.
enum class ParquetMatch : uint8_t {
  kName,
  kId,  ///< by field id where the file has ids, else by name
};

/// Decoder for RawBatch::rows (MakeParquetFormat). Columns that have the table's type already are handed on
/// as they are; the cells of others are converted one by one, exactly, or the row is a bad record whose dead
/// letter holds it as JSON. What the file's schema has beyond the table's is asked for before the first row
/// of the batch, by the evolution policy; the rest follows the policy for unknown fields.
///
/// kInvalidArgument when mappings contradict the schema. Decode: kUnsupported for batches without rows.
Result<std::unique_ptr<Decoder>> MakeParquetDecoder(ParquetMatch match, const BoundSchema& bound);

/// The columns of the files, all optional: the types of the first file, and columns that only later ones
/// have. Nanoseconds become microseconds (values with more digits are bad records), INT96 instants.
Result<InferredSchema> InferParquetSchema(const std::vector<record::RawBatch>& sample);

}  // namespace firn::decode
