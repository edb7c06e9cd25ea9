#include "firn/iceberg/scan/column_path.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "firn/iceberg/scan/arrow_error.h"

namespace firn::iceberg {

namespace {

bool FindIn(const std::vector<NestedField>& fields, int32_t field_id, std::vector<int>& path) {
  for (size_t i = 0; i < fields.size(); ++i) {
    path.push_back(static_cast<int>(i));
    if (fields[i].id == field_id) return true;
    if (fields[i].type->id() == TypeId::kStruct && FindIn(fields[i].type->fields(), field_id, path))
      return true;
    path.pop_back();
  }
  return false;
}

}  // namespace

std::optional<std::vector<int>> FindColumnPath(const Schema& schema, int32_t field_id) {
  std::vector<int> path;
  if (!FindIn(schema.fields(), field_id, path)) return std::nullopt;
  return path;
}

Result<std::shared_ptr<arrow::Array>> ColumnAt(const arrow::RecordBatch& batch, const std::vector<int>& path,
                                               arrow::MemoryPool* pool) {
  std::shared_ptr<arrow::Array> column = batch.column(path[0]);
  for (size_t i = 1; i < path.size(); ++i) {
    FIRN_ARROW_ASSIGN(column,
                      static_cast<const arrow::StructArray&>(*column).GetFlattenedField(path[i], pool));
  }
  return column;
}

}  // namespace firn::iceberg
