#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "firn/base/result.h"
#include "firn/iceberg/catalog.h"
#include "firn/record/position.h"
#include "firn/verify/offset_set.h"

namespace firn::verify {

/// Which columns hold where a row came from; dotted names for fields of structs. Empty: found by name
/// (`_kafka.topic` ..., `topic`, `partition`, `offset`, or the same with `kafka_` before them).
struct PositionColumns {
  std::string topic;
  std::string partition;
  std::string offset;
  std::string topic_name;  ///< of every row, where no column tells
};

/// Fills in what is not named. kNotFound with the names looked for.
Result<PositionColumns> FindPositionColumns(const iceberg::Schema& schema, const PositionColumns& named);

/// Rows of one partition.
struct PartitionRows {
  OffsetSet offsets;
  OffsetSet repeated;  ///< offsets of more than one row
  int64_t rows = 0;
};

/// What the rows of one or several tables tell of their positions. Memory is that of OffsetSet.
struct TableOffsets {
  std::map<record::SourcePartition, PartitionRows> partitions;
  int64_t rows = 0;
  int64_t rows_without_position = 0;  ///< one of the columns is null
};

/// Adds the rows of a branch or tag (empty: main). Reads these columns alone, batch by batch.
Status AddOffsets(const iceberg::LoadedTable& table, const PositionColumns& columns, const std::string& ref,
                  TableOffsets& offsets);

}  // namespace firn::verify
