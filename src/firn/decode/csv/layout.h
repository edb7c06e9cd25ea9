#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/decode/column.h"
#include "firn/decode/decoder.h"
#include "firn/decode/row_decoder.h"

namespace firn::decode {

/// Where one field of a record goes.
struct CsvTarget {
  std::string name;
  Column* column = nullptr;  ///< null: no column takes it
  bool addable = false;      ///< evolution may make it a column
  std::string why_not;       ///< not addable: why
};

/// The table's columns, and how names of CSV fields lead to them.
class CsvColumns {
 public:
  /// kInvalidArgument when mappings contradict each other or the schema.
  static Result<std::unique_ptr<CsvColumns>> Make(const BoundSchema& bound);

  const BoundSchema& bound() const { return bound_; }
  Column& root() { return *root_; }
  Column* rescued() { return rescued_; }
  int32_t field_count() const { return field_count_; }

  /// Targets of fields with these names, in their order. False when two have one name: see `failure`.
  bool Arrange(const std::vector<std::string>& names, std::vector<CsvTarget>* targets, Failure* failure);
  /// Targets of fields that come in the order of the table's columns.
  std::vector<CsvTarget> InTableOrder();

 private:
  explicit CsvColumns(const BoundSchema& bound) : bound_(bound) {}
  Status Bind();
  Status BindColumn(Column& column);

  BoundSchema bound_;
  iceberg::NestedField root_field_;
  std::unique_ptr<Column> root_;
  Column* rescued_ = nullptr;
  std::map<std::string, Column*, std::less<>> by_name_;
  int32_t field_count_ = 0;
};

}  // namespace firn::decode
