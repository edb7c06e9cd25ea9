#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/partition_spec.h"
#include "firn/write/transform_kernel.h"

namespace firn::write {

/// Consecutive rows of one partition.
struct Segment {
  uint32_t partition = 0;
  int64_t begin = 0;
  int64_t length = 0;
};

/// A batch whose rows stand ordered by partition: one segment for each partition in it.
struct RoutedBatch {
  std::shared_ptr<arrow::RecordBatch> rows;
  std::vector<Segment> segments;
};

/// Gives each row the dense id of its partition tuple and brings rows of one partition together.
/// Ids are counted from 0 in the order of appearance and hold until Clear. Not thread-safe.
class PartitionRouter {
 public:
  static Result<PartitionRouter> Make(const iceberg::PartitionSpec& spec, const iceberg::Schema& schema);
  ~PartitionRouter();
  PartitionRouter(PartitionRouter&&) noexcept;
  PartitionRouter& operator=(PartitionRouter&&) noexcept;

  /// The same rows, copied into partition order only where they are not in that order already.
  Result<RoutedBatch> Route(const std::shared_ptr<arrow::RecordBatch>& rows, arrow::MemoryPool* pool);
  /// The tuple of an id that Route gave.
  const iceberg::PartitionValues& partition(uint32_t id) const { return partitions_[id]; }
  size_t partition_count() const { return partitions_.size(); }
  /// Forgets all ids.
  void Clear();

 private:
  class ValueIds;
  class PairIds;

  PartitionRouter();
  Status AssignIds(const arrow::RecordBatch& rows, arrow::MemoryPool* pool);
  void AddNewPartitions();
  std::vector<Segment> CountSegments();
  bool IsGrouped(size_t partitions) const;
  Result<std::shared_ptr<arrow::RecordBatch>> Reorder(const std::shared_ptr<arrow::RecordBatch>& rows,
                                                      const std::vector<Segment>& segments,
                                                      arrow::MemoryPool* pool);

  std::vector<TransformKernel> kernels_;
  std::vector<std::unique_ptr<ValueIds>> values_;  ///< one a field: its distinct values
  std::vector<std::unique_ptr<PairIds>>
      pairs_;  ///< pairs_[i]: (tuple of fields 0..i, value of field i+1) -> tuple id
  std::deque<iceberg::PartitionValues> partitions_;
  std::vector<uint32_t> ids_;    ///< scratch: partition of each row
  std::vector<int64_t> counts_;  ///< scratch: rows of each partition, zero between batches
};

}  // namespace firn::write
