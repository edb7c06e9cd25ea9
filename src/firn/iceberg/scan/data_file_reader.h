#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/literal.h"
#include "firn/iceberg/model/schema.h"
#include "firn/iceberg/scan/name_mapping.h"
#include "firn/iceberg/scan/projection.h"
#include "firn/store/store.h"

namespace arrow {
class RecordBatchReader;
}
namespace parquet::arrow {
class FileReader;
}

namespace firn::iceberg {

struct DataFileReadOptions {
  SchemaPtr schema;                      ///< columns to give, in this order
  std::map<int32_t, Literal> constants;  ///< identity partition values of the file, by source id
  const NameMapping* name_mapping = nullptr;
  int64_t batch_rows = 32 << 10;
  arrow::MemoryPool* pool = nullptr;  ///< null: Arrow's default
};

/// Rows of one Parquet data file under a table's schema. Bytes that are no Parquet file, or a torn one, are
/// kCorrupt with the path. One row group is in memory at a time. Not thread-safe.
class DataFileReader {
 public:
  static Result<std::unique_ptr<DataFileReader>> Open(store::Store& store, const std::string& location,
                                                      DataFileReadOptions options);
  ~DataFileReader();

  /// The next rows in file order, in ToArrowSchema(options.schema); null at the end.
  Result<std::shared_ptr<arrow::RecordBatch>> Next();
  /// Position in the file of the first row that Next gives next.
  int64_t position() const { return position_; }

 private:
  DataFileReader(std::string location, DataFileReadOptions options);
  Status OpenParquet(store::Store& store);
  Result<std::shared_ptr<arrow::RecordBatch>> NextStored();
  Result<std::shared_ptr<arrow::RecordBatch>> NextConstant();

  const std::string location_;
  const DataFileReadOptions options_;
  std::unique_ptr<parquet::arrow::FileReader> file_;
  Projection projection_;
  std::unique_ptr<arrow::RecordBatchReader> group_;  ///< rows of the row group before next_group_
  int next_group_ = 0;
  int64_t position_ = 0;
  int64_t total_rows_ = 0;
};

}  // namespace firn::iceberg
