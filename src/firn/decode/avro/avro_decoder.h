#pragma once

#include <memory>

#include "firn/base/result.h"
#include "firn/decode/avro/writer_schemas.h"
#include "firn/decode/decoder.h"

namespace firn::decode {

/// Decoder for Avro data, straight into Arrow columns. The writer's schema comes with the file
/// (RawBatch::file, bare data) or is named by the record's frame (`schemas`; null: only records of files can
/// be read).
///
/// Fields meet columns by name; which type fits which column, and what is a bad record, is docs/types.md. A
/// field that a writer's schema has and the table has not becomes a schema delta, with evolution, before the
/// first of its records is decoded. Errors of Make: kInvalidArgument when mappings contradict the schema or
/// each other, kUnsupported for column types that Avro cannot fill.
Result<std::unique_ptr<Decoder>> MakeAvroDecoder(const BoundSchema& bound,
                                                 std::shared_ptr<WriterSchemas> schemas);

}  // namespace firn::decode
