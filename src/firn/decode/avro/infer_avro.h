#pragma once

#include <memory>
#include <vector>

#include "firn/base/result.h"
#include "firn/decode/avro/writer_schemas.h"
#include "firn/decode/inferred_schema.h"
#include "firn/record/raw_batch.h"

namespace firn::decode {

/// Columns of a new table: the fields of all schemas that the sample was written with, the older schema
/// first; where no record tells, of `schemas`' latest. Retriable errors: the registry does not answer now.
Result<InferredSchema> InferAvroSchema(const std::vector<record::RawBatch>& sample,
                                       const std::shared_ptr<WriterSchemas>& schemas);

}  // namespace firn::decode
