#include "firn/decode/column.h"

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>

#include <algorithm>

#include "firn/iceberg/model/literal.h"

namespace firn::decode {

using iceberg::NestedField;
using iceberg::TypeId;

namespace {

/// Bytes of a cell in Arrow's layout (booleans: one byte until they are packed); 0 for everything without a
/// fixed width.
int32_t CellWidth(const iceberg::Type& type) {
  switch (type.id()) {
    case TypeId::kBoolean:
      return 1;
    case TypeId::kInt:
    case TypeId::kFloat:
    case TypeId::kDate:
      return 4;
    case TypeId::kLong:
    case TypeId::kDouble:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return 8;
    case TypeId::kDecimal:
    case TypeId::kUuid:
      return 16;
    case TypeId::kFixed:
      return type.length();
    default:
      return 0;
  }
}

template <typename T>
std::string CellOf(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

struct ToCell {
  std::string operator()(std::monostate /*null*/) const { return {}; }
  std::string operator()(bool value) const { return CellOf(static_cast<uint8_t>(value)); }
  std::string operator()(const std::string& value) const { return value; }
  template <typename T>
  std::string operator()(T value) const {
    return CellOf(value);
  }
};

}  // namespace

Column::Column(const NestedField& field, arrow::MemoryPool* pool)
    : field_(&field),
      type_id_(field.type->id()),
      width_(CellWidth(*field.type)),
      pool_(pool),
      values_(pool),
      bytes_(pool) {}

Result<std::unique_ptr<Column>> Column::Make(const NestedField& field, arrow::MemoryPool* pool) {
  switch (field.type->id()) {
    case TypeId::kVariant:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return Error(ErrorKind::kUnsupported,
                   "column '" + field.name + "': records cannot be written as " + field.type->ToString());
    default:
      break;
  }
  std::unique_ptr<Column> column(new Column(field, pool));
  FIRN_TRY(column->AddChildren(pool));
  const bool has_default = field.write_default != nullptr && !field.write_default->is_null();
  if (has_default && field.type->is_primitive()) FIRN_TRY(column->TakeDefault());
  return column;
}

Status Column::AddChildren(arrow::MemoryPool* pool) {
  for (const NestedField& field : type().fields()) {
    FIRN_ASSIGN_CTX(auto child, Make(field, pool), "in '" + field_->name + "'");
    if (field.required) required_children_.push_back(child.get());
    children_.push_back(std::move(child));
  }
  return Ok();
}

Status Column::TakeDefault() {
  default_cell_ = std::visit(ToCell{}, field_->write_default->value());
  default_is_set_ = true;
  if (width_ > 0 && default_cell_.size() != static_cast<size_t>(width_)) {
    return Error(ErrorKind::kUnsupported,
                 "column '" + field_->name + "': its write default is no value of its type");
  }
  return Ok();
}

bool Column::has_offsets() const {
  return type_id_ == TypeId::kString || type_id_ == TypeId::kBinary || type_id_ == TypeId::kList ||
         type_id_ == TypeId::kMap;
}

void Column::Expect(int64_t rows) {
  values_.Expect(has_offsets() ? (rows + 1) * 4 : rows * width_);
  if (has_offsets() && children_.empty())
    bytes_.Expect(static_cast<int64_t>(static_cast<double>(rows) * bytes_per_row_ * 1.1));
  if (type_id_ == TypeId::kStruct) {
    for (auto& child : children_) child->Expect(rows);
  }
}

void Column::PushOffset(int64_t end) {
  if (values_.size() == 0) values_.Push(int32_t{0});
  values_.Push(static_cast<int32_t>(end));
  ++length_;
}

int64_t Column::OffsetAt(int64_t row) const {
  if (values_.size() == 0) return 0;
  int32_t offset = 0;
  std::memcpy(&offset, values_.data() + row * 4, sizeof(offset));
  return offset;
}

std::string_view Column::CellBytes(int64_t row) const {
  if (width_ > 0)
    return {reinterpret_cast<const char*>(values_.data()) + row * width_, static_cast<size_t>(width_)};
  const int64_t begin = OffsetAt(row);
  return {reinterpret_cast<const char*>(bytes_.data()) + begin,
          static_cast<size_t>(OffsetAt(row + 1) - begin)};
}

void Column::AddNulls(int64_t begin, int64_t end) {
  if (!nulls_.empty() && nulls_.back().end == begin) {
    nulls_.back().end = end;
  } else {
    nulls_.push_back({begin, end});
  }
}

void Column::AppendNull() {
  AddNulls(length_, length_ + 1);
  if (width_ > 0) {
    values_.AppendZeros(width_);
    ++length_;
  } else if (has_offsets()) {
    PushOffset(children_.empty() ? bytes_.size() : children_[0]->length());
  } else {
    ++length_;
  }
}

void Column::PadTo(int64_t rows) {
  if (default_is_set_) {
    while (length_ < rows) {
      if (width_ > 0) {
        AppendFixedBytes(default_cell_.data(), width_);
      } else {
        AppendBytes(default_cell_.data(), static_cast<int64_t>(default_cell_.size()));
      }
    }
    return;
  }
  AddNulls(length_, rows);
  if (width_ > 0) {
    values_.AppendZeros((rows - length_) * width_);
    length_ = rows;
  } else if (has_offsets()) {
    const auto end = static_cast<int32_t>(children_.empty() ? bytes_.size() : children_[0]->length());
    if (values_.size() == 0) values_.Push(int32_t{0});
    const int64_t missing = rows - length_;
    values_.Ensure(missing * 4);
    std::fill_n(reinterpret_cast<int32_t*>(values_.end()), missing, end);
    values_.Advance(missing * 4);
    length_ = rows;
  } else {
    length_ = rows;
  }
}

void Column::AlignSlowly(int64_t row) {
  if (length_ > row) Truncate(row);
  if (length_ < row) PadTo(row);
}

void Column::TruncateNulls(int64_t rows) {
  while (!nulls_.empty() && nulls_.back().begin >= rows) nulls_.pop_back();
  if (!nulls_.empty()) nulls_.back().end = std::min(nulls_.back().end, rows);
}

void Column::Truncate(int64_t rows) {
  // All is looked at in any case: the open row, or an allocation that failed, may have left something.
  TruncateNulls(rows);
  length_ = std::min(length_, rows);
  if (width_ > 0) values_.Truncate(std::min(values_.size(), rows * width_));
  if (has_offsets()) values_.Truncate(std::min(values_.size(), (rows + 1) * 4));
  if (type_id_ == TypeId::kStruct) {
    for (auto& child : children_) child->Truncate(rows);
  } else if (!children_.empty()) {
    for (auto& child : children_) child->Truncate(OffsetAt(length_));
  } else if (has_offsets()) {
    bytes_.Truncate(OffsetAt(length_));
  }
}

std::shared_ptr<arrow::Buffer> Column::FinishValidity(int64_t* null_count) {
  *null_count = 0;
  // In a required column only rows under a null parent are missing; they are masked there.
  if (nulls_.empty() || required() || type_id_ == TypeId::kUnknown) {
    nulls_.clear();
    return nullptr;
  }
  GrowingBuffer bitmap(pool_);
  const int64_t bytes = (length_ + 7) / 8;
  bitmap.Ensure(bytes);
  std::memset(bitmap.data(), 0xFF, static_cast<size_t>(bytes));
  bitmap.Advance(bytes);
  for (const NullRun& run : nulls_) {
    arrow::bit_util::SetBitsTo(bitmap.data(), run.begin, run.end - run.begin, false);
    *null_count += run.end - run.begin;
  }
  if (length_ % 8 != 0) bitmap.data()[bytes - 1] &= static_cast<uint8_t>((1 << (length_ % 8)) - 1);
  nulls_.clear();
  return bitmap.Finish();
}

std::shared_ptr<arrow::Buffer> Column::FinishBooleans() {
  GrowingBuffer bits(pool_);
  bits.AppendZeros((length_ + 7) / 8);
  for (int64_t i = 0; i < length_; ++i)
    bits.data()[i / 8] |= static_cast<uint8_t>(values_.data()[i] << (i % 8));
  values_.Truncate(0);
  return bits.Finish();
}

std::shared_ptr<arrow::ArrayData> Column::Finish(int64_t rows, const std::shared_ptr<arrow::DataType>& type) {
  if (length_ < rows) PadTo(rows);
  if (has_offsets() && values_.size() == 0) values_.Push(int32_t{0});
  if (type_id_ == TypeId::kUnknown) {
    nulls_.clear();
    length_ = 0;
    return arrow::ArrayData::Make(type, rows, {nullptr}, rows);
  }
  int64_t null_count = 0;
  std::vector<std::shared_ptr<arrow::Buffer>> buffers = {FinishValidity(&null_count)};
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  if (type_id_ == TypeId::kStruct) {
    for (size_t i = 0; i < children_.size(); ++i) {
      children.push_back(children_[i]->Finish(rows, type->field(static_cast<int>(i))->type()));
    }
  } else if (!children_.empty()) {
    const int64_t elements = OffsetAt(length_);
    for (size_t i = 0; i < children_.size(); ++i) {
      const auto& entry =
          type_id_ == TypeId::kMap ? type->field(0)->type()->field(static_cast<int>(i)) : type->field(0);
      children.push_back(children_[i]->Finish(elements, entry->type()));
    }
    if (type_id_ == TypeId::kMap) {
      children = {
          arrow::ArrayData::Make(type->field(0)->type(), elements, {nullptr}, std::move(children), 0)};
    }
    buffers.push_back(values_.Finish());
  } else if (has_offsets()) {
    if (rows > 0) bytes_per_row_ = static_cast<double>(bytes_.size()) / static_cast<double>(rows);
    buffers.push_back(values_.Finish());
    buffers.push_back(bytes_.Finish());
  } else {
    buffers.push_back(type_id_ == TypeId::kBoolean ? FinishBooleans() : values_.Finish());
  }
  length_ = 0;
  return arrow::ArrayData::Make(type, rows, std::move(buffers), std::move(children), null_count);
}

}  // namespace firn::decode
