#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/literal.h"
#include "firn/iceberg/model/schema.h"
#include "firn/iceberg/scan/file_schema.h"

namespace firn::iceberg {

/// How rows of one file become rows of a schema (spec, "Column Projection"): fields found by id and promoted;
/// a missing one is the file's identity partition value, its initial default, or null.
class Projection {
 public:
  /// `constants`: identity partition values of the file by source id. kCorrupt where a required field can
  /// have no value, or a stored type cannot become the schema's.
  static Result<Projection> Make(const Schema& target, const std::vector<FileField>& file,
                                 const std::map<int32_t, Literal>& constants);

  /// Parquet columns to read, ascending.
  const std::vector<int>& leaves() const { return leaves_; }
  const std::shared_ptr<arrow::Schema>& arrow_schema() const { return arrow_schema_; }
  /// `rows`: what Parquet gave for leaves(), the columns of the file in their order. `length` counts where
  /// there are none.
  Result<std::shared_ptr<arrow::RecordBatch>> Apply(const arrow::RecordBatch* rows, int64_t length,
                                                    arrow::MemoryPool* pool) const;

 private:
  struct Node {
    std::shared_ptr<arrow::Field> target;
    std::string source;  ///< name in the file; meaningful when `stored`
    bool stored = false;
    std::optional<Literal> constant;  ///< when not stored; empty: null
    std::vector<Node> children;
  };

  static Result<Node> MakeNode(const NestedField& target, const std::vector<FileField>& file,
                               const std::map<int32_t, Literal>& constants, std::vector<int>& leaves);
  static Result<Node> MakeMissing(const NestedField& target, Node node,
                                  const std::map<int32_t, Literal>& constants);
  static Status MakeStored(const NestedField& target, const FileField& source, Node& node,
                           std::vector<int>& leaves);
  static Result<std::shared_ptr<arrow::Array>> Convert(const Node& node,
                                                       const std::shared_ptr<arrow::Array>& source,
                                                       arrow::MemoryPool* pool);
  static Result<std::shared_ptr<arrow::Array>> ConvertStruct(const Node& node, const arrow::Array& source,
                                                             arrow::MemoryPool* pool);
  static Result<std::shared_ptr<arrow::Array>> ConvertList(const Node& node,
                                                           std::shared_ptr<arrow::Array> source,
                                                           arrow::MemoryPool* pool);
  static Result<std::shared_ptr<arrow::Array>> ConvertMap(const Node& node, const arrow::Array& source,
                                                          arrow::MemoryPool* pool);
  static Result<std::shared_ptr<arrow::Array>> Missing(const Node& node, int64_t length,
                                                       arrow::MemoryPool* pool);

  std::vector<Node> columns_;
  std::vector<int> leaves_;
  std::shared_ptr<arrow::Schema> arrow_schema_;
};

/// Rows of `source` with the fields of `target` (a part of the same schema), found by id.
Result<std::shared_ptr<arrow::RecordBatch>> SelectFields(const arrow::RecordBatch& rows, const Schema& source,
                                                         const Schema& target, arrow::MemoryPool* pool);

/// The part of a schema that holds these fields (and what encloses them), in the order of `ids`' first
/// top-level columns.
SchemaPtr PruneSchema(const Schema& schema, const std::vector<int32_t>& ids);

}  // namespace firn::iceberg
