#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/scan/row_filter.h"
#include "firn/store/store.h"

namespace firn::iceberg {

/// Positions of deleted rows of one data file.
class PositionDeletes {
 public:
  /// Reads the position delete files among `deletes`; kUnsupported for equality deletes and deletion vectors,
  /// which Firn does not read yet.
  static Result<PositionDeletes> Read(store::Store& store, const std::string& data_file,
                                      const std::vector<DataFile>& deletes, arrow::MemoryPool* pool);

  bool empty() const { return positions_.empty(); }
  /// Takes the deleted rows out of a mask over the rows [first, first + mask.size()) of the file.
  void Apply(int64_t first, RowMask& mask) const;

 private:
  std::vector<int64_t> positions_;  ///< sorted
};

}  // namespace firn::iceberg
