#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/base/int128.h"
#include "firn/base/result.h"
#include "firn/decode/bytes_encoding.h"
#include "firn/decode/growing_buffer.h"
#include "firn/iceberg/model/type.h"

namespace arrow {
class ArrayData;
class Buffer;
class DataType;
}  // namespace arrow

namespace firn::decode {

class ObjectShape;

/// What BoundRecord ties to a column.
struct ColumnBinding {
  ObjectShape* shape = nullptr;  ///< struct columns: keys of the objects that fill it
  int epoch_digits = -1;  ///< decimal digits of a declared epoch unit below a second; -1: numbers are refused
  bool may_widen = false;                                  ///< evolution may widen the type
  BytesEncoding bytes_encoding = BytesEncoding::kDefault;  ///< of text, in columns of binary and fixed
};

/// One column (at any depth) in the making. Cells are appended in row order; the column may lag behind its
/// parent (cells that were never given are null, or the field's write default) and may be cut back to any
/// earlier row, so a record that fails half-way leaves nothing behind. Nothing but nulls costs memory for
/// validity.
///
/// A struct's children count its own rows; a list's element, and a map's key and value, count elements.
class Column {
 public:
  /// `field` must outlive the column. Types that no format fills are kUnsupported.
  static Result<std::unique_ptr<Column>> Make(const iceberg::NestedField& field, arrow::MemoryPool* pool);

  const iceberg::NestedField& field() const { return *field_; }
  iceberg::TypeId type_id() const { return type_id_; }
  const iceberg::Type& type() const { return *field_->type; }
  int64_t length() const { return length_; }
  bool required() const { return field_->required; }
  bool has_default() const { return default_is_set_; }
  const std::vector<std::unique_ptr<Column>>& children() const { return children_; }
  Column& child(size_t i) { return *children_[i]; }
  ColumnBinding& binding() { return binding_; }
  const ColumnBinding& binding() const { return binding_; }
  /// Children that must be there in every row of a struct.
  const std::vector<Column*>& required_children() const { return required_children_; }

  /// Rows that the next batch is likely to have; sizes the first allocation.
  void Expect(int64_t rows);

  /// Makes `row` the next one: fills what is missing, drops what is there (a later duplicate of a key wins).
  void Align(int64_t row) {
    if (length_ != row) [[unlikely]]
      AlignSlowly(row);
  }

  void AppendNull();
  /// Fixed-width cells in their Arrow layout; booleans as uint8_t.
  template <typename T>
  void AppendFixed(T value) {
    values_.Push(value);
    ++length_;
  }
  void AppendFixedBytes(const void* bytes, int64_t width) {
    values_.Append(bytes, width);
    ++length_;
  }
  /// Variable-width cells: room for `most` bytes (and GrowingBuffer::kSlack to scribble on), then how many
  /// were written.
  uint8_t* BeginBytes(int64_t most) {
    bytes_.Ensure(most);
    return bytes_.end();
  }
  void EndBytes(int64_t written) {
    bytes_.Advance(written);
    PushOffset(bytes_.size());
  }
  void AppendBytes(const void* bytes, int64_t count) {
    bytes_.Append(bytes, count);
    PushOffset(bytes_.size());
  }
  /// Closes a struct's row; children may still lag.
  void EndStruct() { ++length_; }
  /// Closes a list's or map's row over what was appended to its children.
  void EndList() { PushOffset(children_[0]->length()); }
  /// Element range of a row of a list or map; the row after the last closed one is open-ended.
  int64_t OffsetAt(int64_t row) const;
  /// Bytes of a variable-width or fixed-width cell, for comparing map keys.
  std::string_view CellBytes(int64_t row) const;

  /// Cuts back to `rows` complete rows, at every depth.
  void Truncate(int64_t rows);

  /// Fills up to `rows` and hands everything over as Arrow data of `type`; the column is empty afterwards.
  std::shared_ptr<arrow::ArrayData> Finish(int64_t rows, const std::shared_ptr<arrow::DataType>& type);

 private:
  struct NullRun {
    int64_t begin;
    int64_t end;
  };

  Column(const iceberg::NestedField& field, arrow::MemoryPool* pool);
  Status AddChildren(arrow::MemoryPool* pool);
  Status TakeDefault();
  void AlignSlowly(int64_t row);
  void PadTo(int64_t rows);
  void AddNulls(int64_t begin, int64_t end);
  void PushOffset(int64_t end);
  void TruncateNulls(int64_t rows);
  bool has_offsets() const;
  std::shared_ptr<arrow::Buffer> FinishValidity(int64_t* null_count);
  std::shared_ptr<arrow::Buffer> FinishBooleans();

  const iceberg::NestedField* field_;
  iceberg::TypeId type_id_;
  int32_t width_ = 0;  ///< bytes of a fixed-width cell, 0 for others
  int64_t length_ = 0;
  arrow::MemoryPool* pool_;
  GrowingBuffer values_;       ///< fixed-width cells, or int32 offsets
  GrowingBuffer bytes_;        ///< of variable-width cells
  double bytes_per_row_ = 16;  ///< of the last batch
  std::vector<NullRun> nulls_;
  std::vector<std::unique_ptr<Column>> children_;
  std::vector<Column*> required_children_;
  std::string default_cell_;  ///< write default in the cell's layout
  bool default_is_set_ = false;
  ColumnBinding binding_;
};

}  // namespace firn::decode
