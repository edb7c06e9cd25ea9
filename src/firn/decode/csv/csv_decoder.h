#pragma once

#include <memory>
#include <vector>

#include "firn/decode/csv/dialect.h"
#include "firn/decode/decoder.h"
#include "firn/decode/inferred_schema.h"

namespace firn::decode {

/// Decoder for values that are one CSV record each: messages, or records of a file (MakeCsvFormat).
///
/// Fields go to columns by name where names are known (`columns:`, the file's header, a header line before
/// the record in each message), else in the order of the table's columns. Text becomes cells as docs/csv.md
/// says: exactly, or the record is a bad one. Errors: kInvalidArgument when mappings contradict the schema or
/// each other. Decode fails only with kResourceExhausted.
Result<std::unique_ptr<Decoder>> MakeCsvDecoder(const CsvDialect& dialect, const BoundSchema& bound);

/// Columns for records like these: whole numbers long, numbers with a fraction or exponent double, true and
/// false boolean, all else text; what does not agree is text, and so are leading zeros and dates. Without
/// names the columns are `column_1`, `column_2` ...
Result<InferredSchema> InferCsvSchema(const CsvDialect& dialect, const std::vector<record::RawBatch>& sample);

}  // namespace firn::decode
