#include "firn/write/transform_kernel.h"

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/buffer_builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/bitmap_ops.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "firn/iceberg/scan/arrow_error.h"
#include "firn/iceberg/scan/arrow_literal.h"
#include "firn/iceberg/scan/arrow_schema.h"
#include "firn/iceberg/scan/column_path.h"

namespace firn::write {

namespace {

using iceberg::Transform;
using iceberg::TransformKind;
using iceberg::Type;
using iceberg::TypeId;
using iceberg::TypePtr;
using ArrayPtr = std::shared_ptr<arrow::Array>;

constexpr int64_t kNanosPerMicro = 1000;

int64_t FloorDiv(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return quotient - static_cast<int64_t>(value % divisor < 0);
}

/// Validity of `source` as a bitmap that begins at bit 0; null when there are no nulls.
Result<std::shared_ptr<arrow::Buffer>> CopyValidity(const arrow::Array& source, arrow::MemoryPool* pool) {
  if (source.null_count() == 0) return std::shared_ptr<arrow::Buffer>();
  FIRN_ARROW_ASSIGN(auto bitmap, arrow::internal::CopyBitmap(pool, source.null_bitmap_data(), source.offset(),
                                                             source.length()));
  return bitmap;
}

/// `compute(row) -> Out` for every row; what it gives for a null row is never looked at.
template <typename Out, typename Compute>
Result<ArrayPtr> MapFixed(const arrow::Array& source, const std::shared_ptr<arrow::DataType>& type,
                          arrow::MemoryPool* pool, Compute compute) {
  const int64_t length = source.length();
  FIRN_ARROW_ASSIGN(auto values, arrow::AllocateBuffer(length * static_cast<int64_t>(sizeof(Out)), pool));
  auto* out = reinterpret_cast<Out*>(values->mutable_data());
  for (int64_t i = 0; i < length; ++i) out[i] = compute(i);
  FIRN_ASSIGN(auto validity, CopyValidity(source, pool));
  auto data =
      arrow::ArrayData::Make(type, length, {std::move(validity), std::move(values)}, source.null_count());
  return arrow::MakeArray(data);
}

template <typename Hash>
Result<ArrayPtr> MapBucket(const arrow::Array& source, int32_t buckets, arrow::MemoryPool* pool, Hash hash) {
  return MapFixed<int32_t>(source, arrow::int32(), pool, [&](int64_t row) {
    return static_cast<int32_t>(static_cast<uint32_t>(hash(row)) & 0x7fffffffU) % buckets;
  });
}

bool IsNanos(TypeId type) { return type == TypeId::kTimestampNs || type == TypeId::kTimestampTzNs; }
bool IsInt32(TypeId type) { return type == TypeId::kInt || type == TypeId::kDate; }

Result<ArrayPtr> BucketBytes(const arrow::Array& source, int32_t buckets, arrow::MemoryPool* pool) {
  if (source.type_id() == arrow::Type::FIXED_SIZE_BINARY) {
    const auto& fixed = static_cast<const arrow::FixedSizeBinaryArray&>(source);
    return MapBucket(source, buckets, pool,
                     [&](int64_t row) { return iceberg::BucketHashBytes(fixed.GetView(row)); });
  }
  const auto& binary = static_cast<const arrow::BinaryArray&>(source);
  return MapBucket(source, buckets, pool,
                   [&](int64_t row) { return iceberg::BucketHashBytes(binary.GetView(row)); });
}

Result<ArrayPtr> Bucket(const arrow::Array& source, TypeId type, int32_t buckets, arrow::MemoryPool* pool) {
  if (IsInt32(type)) {
    const auto* values = source.data()->GetValues<int32_t>(1);
    return MapBucket(source, buckets, pool,
                     [=](int64_t row) { return iceberg::BucketHashLong(values[row]); });
  }
  if (type == TypeId::kDecimal) {
    const auto* values = static_cast<const arrow::FixedSizeBinaryArray&>(source).raw_values();
    return MapBucket(source, buckets, pool, [=](int64_t row) {
      return iceberg::BucketHashDecimal(iceberg::DecimalAt(values, row));
    });
  }
  if (type == TypeId::kString || type == TypeId::kBinary || type == TypeId::kUuid || type == TypeId::kFixed) {
    return BucketBytes(source, buckets, pool);
  }
  const auto* values = source.data()->GetValues<int64_t>(1);
  const int64_t divisor = IsNanos(type) ? kNanosPerMicro : 1;
  return MapBucket(source, buckets, pool, [=](int64_t row) {
    return iceberg::BucketHashLong(divisor == 1 ? values[row] : FloorDiv(values[row], divisor));
  });
}

/// v - (((v % w) + w) % w), computed so that it wraps like Java's at the ends of the range.
template <typename Value, typename Unsigned>
Value TruncateNumber(Value value, Value width) {
  const Value remainder = static_cast<Value>(value % width);
  const Value floor_remainder = remainder < 0 ? static_cast<Value>(remainder + width) : remainder;
  return static_cast<Value>(static_cast<Unsigned>(value) - static_cast<Unsigned>(floor_remainder));
}

/// Bytes of the first `width` code points; text that is no UTF-8 counts lead bytes only.
size_t PrefixBytes(std::string_view text, int32_t width) {
  if (text.size() <= static_cast<size_t>(width)) return text.size();
  int32_t points = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool lead = (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U;
    if (lead && points++ == width) return i;
  }
  return text.size();
}

template <typename Prefix>
Result<ArrayPtr> MapPrefix(const arrow::BinaryArray& source, arrow::MemoryPool* pool, Prefix prefix) {
  const int64_t length = source.length();
  arrow::TypedBufferBuilder<int32_t> offsets(pool);
  arrow::BufferBuilder bytes(pool);
  FIRN_ARROW_TRY(offsets.Reserve(length + 1));
  FIRN_ARROW_TRY(bytes.Reserve(source.total_values_length()));
  offsets.UnsafeAppend(0);
  for (int64_t i = 0; i < length; ++i) {
    const std::string_view value = source.IsNull(i) ? std::string_view() : source.GetView(i);
    if (!value.empty()) bytes.UnsafeAppend(value.data(), static_cast<int64_t>(prefix(value)));
    offsets.UnsafeAppend(static_cast<int32_t>(bytes.length()));
  }
  FIRN_ARROW_ASSIGN(auto offset_buffer, offsets.Finish());
  FIRN_ARROW_ASSIGN(auto byte_buffer, bytes.Finish());
  FIRN_ASSIGN(auto validity, CopyValidity(source, pool));
  return arrow::MakeArray(arrow::ArrayData::Make(
      source.type(), length, {std::move(validity), std::move(offset_buffer), std::move(byte_buffer)},
      source.null_count()));
}

Result<ArrayPtr> Truncate(const arrow::Array& source, TypeId type, int32_t width, arrow::MemoryPool* pool) {
  switch (type) {
    case TypeId::kInt: {
      const auto* values = source.data()->GetValues<int32_t>(1);
      return MapFixed<int32_t>(source, source.type(), pool, [=](int64_t row) {
        return TruncateNumber<int32_t, uint32_t>(values[row], width);
      });
    }
    case TypeId::kLong: {
      const auto* values = source.data()->GetValues<int64_t>(1);
      return MapFixed<int64_t>(source, source.type(), pool, [=](int64_t row) {
        return TruncateNumber<int64_t, uint64_t>(values[row], width);
      });
    }
    case TypeId::kDecimal: {
      const auto* values = static_cast<const arrow::FixedSizeBinaryArray&>(source).raw_values();
      return MapFixed<Int128>(source, source.type(), pool, [=](int64_t row) {
        return TruncateNumber<Int128, UInt128>(iceberg::DecimalAt(values, row), width);
      });
    }
    case TypeId::kString:
      return MapPrefix(static_cast<const arrow::BinaryArray&>(source), pool,
                       [=](std::string_view value) { return PrefixBytes(value, width); });
    default:
      return MapPrefix(static_cast<const arrow::BinaryArray&>(source), pool, [=](std::string_view value) {
        return std::min(value.size(), static_cast<size_t>(width));
      });
  }
}

/// Days of rows of a date or timestamp column.
template <typename PerRow>
Result<ArrayPtr> WithDays(const arrow::Array& source, TypeId type, PerRow per_row) {
  if (type == TypeId::kDate) {
    const auto* values = source.data()->GetValues<int32_t>(1);
    return per_row([=](int64_t row) { return values[row]; });
  }
  const auto* values = source.data()->GetValues<int64_t>(1);
  if (IsNanos(type)) {
    return per_row(
        [=](int64_t row) { return iceberg::DaysFromMicros(FloorDiv(values[row], kNanosPerMicro)); });
  }
  return per_row([=](int64_t row) { return iceberg::DaysFromMicros(values[row]); });
}

/// Years or months of days; the calendar is asked only when the day changes, which in a stream it seldom
/// does.
template <int32_t (*OfDays)(int32_t)>
Result<ArrayPtr> Calendar(const arrow::Array& source, TypeId type, arrow::MemoryPool* pool) {
  return WithDays(source, type, [&](auto day_at) {
    int32_t last_day = 0;
    int32_t last_result = OfDays(0);
    return MapFixed<int32_t>(source, arrow::int32(), pool, [&](int64_t row) {
      const int32_t day = day_at(row);
      if (day != last_day) {
        if (source.IsNull(row)) return 0;
        last_day = day;
        last_result = OfDays(day);
      }
      return last_result;
    });
  });
}

Result<ArrayPtr> Day(const ArrayPtr& source, TypeId type, arrow::MemoryPool* pool) {
  if (type == TypeId::kDate) return source;
  return WithDays(*source, type,
                  [&](auto day_at) { return MapFixed<int32_t>(*source, arrow::date32(), pool, day_at); });
}

Result<ArrayPtr> Hour(const arrow::Array& source, TypeId type, arrow::MemoryPool* pool) {
  const auto* values = source.data()->GetValues<int64_t>(1);
  const int64_t divisor = IsNanos(type) ? kNanosPerMicro : 1;
  return MapFixed<int32_t>(source, arrow::int32(), pool, [=](int64_t row) {
    return iceberg::HoursFromMicros(FloorDiv(values[row], divisor));
  });
}

Result<ArrayPtr> Nulls(const TypePtr& type, int64_t length, arrow::MemoryPool* pool) {
  FIRN_ASSIGN(auto arrow_type, iceberg::ToArrowType(*type));
  FIRN_ARROW_ASSIGN(auto nulls, arrow::MakeArrayOfNull(arrow_type, length, pool));
  return nulls;
}

}  // namespace

TransformKernel::TransformKernel(const Transform& transform, TypePtr source_type, TypePtr result_type,
                                 std::vector<int> path)
    : transform_(transform),
      source_type_(std::move(source_type)),
      result_type_(std::move(result_type)),
      path_(std::move(path)) {}

Result<TransformKernel> TransformKernel::Make(const Transform& transform, int32_t source_id,
                                              const iceberg::Schema& schema) {
  const auto path = iceberg::FindColumnPath(schema, source_id);
  if (transform.kind() == TransformKind::kVoid) {
    TypePtr type = path ? schema.FindById(source_id)->type : Type::Primitive(TypeId::kInt);
    if (!type->is_primitive()) type = Type::Primitive(TypeId::kInt);
    return TransformKernel(transform, type, type, {});
  }
  if (!path) {
    return Error(ErrorKind::kUnsupported, "transform " + transform.ToString() + ": no column with field id " +
                                              std::to_string(source_id) + " outside lists and maps");
  }
  const TypePtr& source = schema.FindById(source_id)->type;
  if (transform.kind() == TransformKind::kUnknown || !transform.CanApply(*source)) {
    return Error(ErrorKind::kUnsupported, "transform " + transform.ToString() + " of column '" +
                                              schema.FullName(source_id) + "' (" + source->ToString() +
                                              ") is not one that Firn can write");
  }
  return TransformKernel(transform, source, transform.ResultType(source), *path);
}

Result<ArrayPtr> TransformKernel::Apply(const arrow::RecordBatch& batch, arrow::MemoryPool* pool) const {
  if (path_.empty()) return Nulls(result_type_, batch.num_rows(), pool);
  FIRN_ASSIGN(const ArrayPtr source, iceberg::ColumnAt(batch, path_, pool));
  return ApplyTo(source, pool);
}

Result<ArrayPtr> TransformKernel::ApplyTo(const ArrayPtr& source, arrow::MemoryPool* pool) const {
  const TypeId type = source_type_->id();
  switch (transform_.kind()) {
    case TransformKind::kIdentity:
      return source;
    case TransformKind::kBucket:
      return Bucket(*source, type, transform_.parameter(), pool);
    case TransformKind::kTruncate:
      return Truncate(*source, type, transform_.parameter(), pool);
    case TransformKind::kYear:
      return Calendar<iceberg::YearsFromDays>(*source, type, pool);
    case TransformKind::kMonth:
      return Calendar<iceberg::MonthsFromDays>(*source, type, pool);
    case TransformKind::kDay:
      return Day(source, type, pool);
    case TransformKind::kHour:
      return Hour(*source, type, pool);
    case TransformKind::kVoid:
    case TransformKind::kUnknown:
      break;
  }
  return Nulls(result_type_, source->length(), pool);
}

}  // namespace firn::write
