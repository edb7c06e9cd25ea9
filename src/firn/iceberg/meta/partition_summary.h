#pragma once

#include <optional>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/model/literal.h"

namespace firn::iceberg {

/// Collects the field summaries of a manifest (manifest list column 507) over the partitions of its live and
/// deleted files. NaN stays out of the bounds and is told by contains_nan; a zero bound is widened to both
/// zeros, so that neither hides the other.
class PartitionSummary {
 public:
  explicit PartitionSummary(size_t fields) : fields_(fields) {}

  /// One tuple; values have the types of the partition struct.
  void Add(const PartitionValues& partition);
  Result<std::vector<FieldSummary>> Finish() const;

 private:
  struct Field {
    bool contains_null = false;
    bool contains_nan = false;
    std::optional<Literal> lower;
    std::optional<Literal> upper;
  };
  std::vector<Field> fields_;
};

}  // namespace firn::iceberg
