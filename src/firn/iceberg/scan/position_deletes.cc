#include "firn/iceberg/scan/position_deletes.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <utility>

#include "firn/iceberg/scan/data_file_reader.h"
#include "firn/iceberg/scan/scan_plan.h"

namespace firn::iceberg {

namespace {

constexpr int32_t kDeleteFilePathId = 2147483546;
constexpr int32_t kDeletePosId = 2147483545;

SchemaPtr DeleteSchema() {
  NestedField path;
  path.id = kDeleteFilePathId;
  path.name = "file_path";
  path.type = Type::Primitive(TypeId::kString);
  path.required = true;
  NestedField pos;
  pos.id = kDeletePosId;
  pos.name = "pos";
  pos.type = Type::Primitive(TypeId::kLong);
  pos.required = true;
  return std::make_shared<const Schema>(0, std::vector<NestedField>{std::move(path), std::move(pos)});
}

Status CheckReadable(const DataFile& file) {
  if (file.content == FileContent::kEqualityDeletes) {
    return Error(ErrorKind::kUnsupported,
                 "the table has equality deletes (" + file.file_path + "), which Firn does not read yet");
  }
  if (!IsParquetFile(file)) {
    return Error(ErrorKind::kUnsupported, "the table has deletes in " + file.file_format + " files (" +
                                              file.file_path + "), which Firn does not read yet");
  }
  return Ok();
}

void Collect(const arrow::RecordBatch& rows, const std::string& data_file, std::vector<int64_t>& positions) {
  const auto& paths = static_cast<const arrow::StringArray&>(*rows.column(0));
  const auto& pos = static_cast<const arrow::Int64Array&>(*rows.column(1));
  for (int64_t i = 0; i < rows.num_rows(); ++i) {
    if (paths.GetView(i) == data_file) positions.push_back(pos.Value(i));
  }
}

}  // namespace

Result<PositionDeletes> PositionDeletes::Read(store::Store& store, const std::string& data_file,
                                              const std::vector<DataFile>& deletes, arrow::MemoryPool* pool) {
  PositionDeletes result;
  for (const DataFile& file : deletes) {
    FIRN_TRY(CheckReadable(file));
    DataFileReadOptions options;
    options.schema = DeleteSchema();
    options.pool = pool;
    FIRN_ASSIGN(const auto reader, DataFileReader::Open(store, file.file_path, std::move(options)));
    while (true) {
      FIRN_ASSIGN(const auto rows, reader->Next());
      if (rows == nullptr) break;
      Collect(*rows, data_file, result.positions_);
    }
  }
  std::sort(result.positions_.begin(), result.positions_.end());
  return result;
}

void PositionDeletes::Apply(int64_t first, RowMask& mask) const {
  const int64_t end = first + static_cast<int64_t>(mask.size());
  for (auto it = std::lower_bound(positions_.begin(), positions_.end(), first);
       it != positions_.end() && *it < end; ++it) {
    mask[static_cast<size_t>(*it - first)] = 0;
  }
}

}  // namespace firn::iceberg
