#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "firn/base/result.h"
#include "firn/iceberg/model/schema.h"
#include "firn/record/batch.h"
#include "firn/record/dead_letter.h"

namespace arrow {
class MemoryPool;
}

namespace firn::write {

/// Columns of a dead-letter table, in this order (product.md, "Dead letters"). Ids as Java assigns them
/// fresh.
iceberg::SchemaPtr DeadLetterSchema();

/// A table of that name which somebody else made with other types is refused, before anything is read or
/// written.
Status CheckLetterColumns(const iceberg::Schema& table_schema);

/// The letters as rows of a table whose schema holds the columns of DeadLetterSchema by name (ids are the
/// table's; columns that it does not have are left out, columns that others added are null). `arrival_ms`:
/// when we met them. Without `keep_payload` key, value and header values are null.
Result<record::Batch> DeadLetterRows(std::span<const record::DeadLetter* const> letters,
                                     const std::string& pipeline_id, int64_t arrival_ms, bool keep_payload,
                                     const iceberg::Schema& table_schema, arrow::MemoryPool* pool);

}  // namespace firn::write
