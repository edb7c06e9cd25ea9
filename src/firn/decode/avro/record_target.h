#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/decode/column.h"
#include "firn/decode/decoder.h"

namespace firn::decode {

/// Where the fields of a record at the top, or of one on the way to mapped columns (`from: a.b`), go.
struct RecordTarget {
  struct Field {
    Column* column = nullptr;
    std::unique_ptr<RecordTarget> record;  ///< in the place of a column
  };
  int32_t parent_id = 0;  ///< where new fields would go; -1: nowhere
  std::map<std::string, Field, std::less<>> fields;
};

/// A BoundSchema made ready for plans: the columns, and which field goes where.
class BoundTarget {
 public:
  /// kInvalidArgument when mappings contradict each other or the schema; kUnsupported for types that no
  /// record can fill.
  static Result<std::unique_ptr<BoundTarget>> Make(const BoundSchema& bound);

  const BoundSchema& bound() const { return bound_; }
  Column& root() { return *root_; }
  RecordTarget& record() { return record_; }
  Column* rescued() { return rescued_; }
  /// Named fields of the schema, at every depth.
  int32_t field_count() const { return field_count_; }

 private:
  explicit BoundTarget(const BoundSchema& bound) : bound_(bound) {}

  Status Bind();
  Status BindTopLevel(Column& column);
  Status BindPath(Column& column, std::string_view from);
  Status BindNested(Column& column, bool is_map_key);

  BoundSchema bound_;
  iceberg::NestedField root_field_;
  std::unique_ptr<Column> root_;
  RecordTarget record_;
  Column* rescued_ = nullptr;
  int32_t field_count_ = 0;
};

}  // namespace firn::decode
