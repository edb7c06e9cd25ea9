#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "firn/base/result.h"
#include "firn/iceberg/model/table_metadata.h"

namespace firn::cli {

// Parts of a table in the words of people: what pipeline files and statements call them.

std::string TransformText(const iceberg::PartitionField& field,
                          const iceberg::Schema& schema);  ///< `bucket(16, id)`
std::string SpecText(const iceberg::PartitionSpec& spec,
                     const iceberg::Schema& schema);  ///< "-" when unpartitioned
std::string OrderText(const iceberg::SortOrder& order, const iceberg::Schema& schema);  ///< "-" when unsorted
/// Columns, one line each, children indented under their parent: id, name, type, required, doc.
std::string SchemaText(const iceberg::Schema& schema, bool terminal);

/// The snapshot that `--snapshot ID`, `--as-of TIME` or neither (head of main) ask for; null for a table
/// without snapshots. kNotFound says which there are. Giving both is an error.
Result<const iceberg::Snapshot*> ChosenSnapshot(const iceberg::TableMetadata& metadata,
                                                const std::optional<int64_t>& snapshot_id,
                                                const std::string& as_of);

/// `2026-01-31`, `2026-01-31T10:20:30[.123][Z|+02:00]` (no zone: UTC) or epoch milliseconds.
Result<int64_t> ParseInstantMs(std::string_view text);

/// Value of a summary key as a number; empty when absent or no number.
std::optional<int64_t> SummaryCount(const iceberg::Snapshot& snapshot, const std::string& key);

}  // namespace firn::cli
