#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/decode/column.h"
#include "firn/decode/decoder.h"
#include "firn/decode/json/object_shape.h"

namespace firn::decode {

/// A BoundSchema made ready for parsing: the columns, and for each object that a record may hold the keys
/// that lead to them.
class BoundRecord {
 public:
  /// kInvalidArgument when mappings contradict each other or the schema; kUnsupported for types that JSON
  /// cannot fill.
  static Result<std::unique_ptr<BoundRecord>> Make(const BoundSchema& bound);

  const BoundSchema& bound() const { return bound_; }
  Column& root() { return *root_; }
  ObjectShape& root_shape() { return *shapes_[0]; }
  Column* rescued() { return rescued_; }
  /// Where a record goes that is no object or array; null when such records are bad.
  KeySlot* scalar_slot();
  /// The slot for a key that the shape does not know, with the verdict whether evolution may add it.
  KeySlot* Remember(ObjectShape& shape, std::string_view name);
  /// Named fields of the schema, at every depth.
  int32_t field_count() const { return field_count_; }

 private:
  explicit BoundRecord(const BoundSchema& bound) : bound_(bound) {}

  Status Bind();
  Status BindTopLevel(Column& column);
  Status BindPath(Column& column, std::string_view from);
  Status BindNested(Column& column, bool is_map_key);
  void BindStruct(Column& column);
  ObjectShape* AddShape(Column* owner, int32_t parent_id);
  std::string WhyNotAddable(const ObjectShape& shape, std::string_view name) const;

  BoundSchema bound_;
  iceberg::NestedField root_field_;
  std::unique_ptr<Column> root_;
  Column* rescued_ = nullptr;
  std::vector<std::unique_ptr<ObjectShape>> shapes_;
  int32_t field_count_ = 0;
};

}  // namespace firn::decode
