#include "firn/write/file_metrics.h"

#include <parquet/metadata.h>
#include <parquet/schema.h>
#include <parquet/statistics.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace firn::write {

namespace {

using iceberg::Literal;
using iceberg::MetricsMode;
using iceberg::NestedField;
using iceberg::TypeId;
using iceberg::TypePtr;

/// Everything the row groups say of one column.
struct ColumnTotals {
  int64_t size_bytes = 0;
  int64_t values = 0;
  int64_t nulls = 0;
  bool missing_statistics = false;
  bool missing_bounds = false;
  std::optional<Literal> min;
  std::optional<Literal> max;
};

/// Ids of fields that are not inside a list or map: the only ones with bounds.
void AddBounded(const std::vector<NestedField>& fields, std::set<int32_t>& ids) {
  for (const NestedField& field : fields) {
    ids.insert(field.id);
    if (field.type->id() == TypeId::kStruct) AddBounded(field.type->fields(), ids);
  }
}

Int128 BigEndian(std::string_view bytes) {
  UInt128 value = !bytes.empty() && (static_cast<uint8_t>(bytes[0]) & 0x80U) != 0 ? ~UInt128{0} : 0;
  for (const char byte : bytes) value = value << 8U | static_cast<uint8_t>(byte);
  return static_cast<Int128>(value);
}

template <typename T>
T LittleEndian(std::string_view bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof(T), bytes.size()));
  return value;
}

Int128 Unscaled(std::string_view plain, parquet::Type::type physical) {
  switch (physical) {
    case parquet::Type::INT32:
      return LittleEndian<int32_t>(plain);
    case parquet::Type::INT64:
      return LittleEndian<int64_t>(plain);
    default:
      return BigEndian(plain);
  }
}

/// A bound as Parquet's plain encoding gives it (without the length of byte arrays).
Literal FromPlain(const TypePtr& type, std::string_view plain, parquet::Type::type physical) {
  switch (type->id()) {
    case TypeId::kBoolean:
      return {type, !plain.empty() && plain[0] != 0};
    case TypeId::kInt:
    case TypeId::kDate:
      return {type, LittleEndian<int32_t>(plain)};
    case TypeId::kFloat:
      return {type, LittleEndian<float>(plain)};
    case TypeId::kDouble:
      return {type, LittleEndian<double>(plain)};
    case TypeId::kDecimal:
      return {type, Unscaled(plain, physical)};
    case TypeId::kString:
    case TypeId::kBinary:
    case TypeId::kUuid:
    case TypeId::kFixed:
      return {type, std::string(plain)};
    default:
      return {type, LittleEndian<int64_t>(plain)};
  }
}

void Widen(const parquet::Statistics& statistics, const TypePtr& type, ColumnTotals& totals) {
  Literal min = FromPlain(type, statistics.EncodeMin(), statistics.physical_type());
  Literal max = FromPlain(type, statistics.EncodeMax(), statistics.physical_type());
  if (!totals.min || min.Compare(*totals.min) < 0) totals.min = std::move(min);
  if (!totals.max || max.Compare(*totals.max) > 0) totals.max = std::move(max);
}

void AddChunk(const parquet::ColumnChunkMetaData& chunk, const TypePtr& type, ColumnTotals& totals) {
  totals.size_bytes += chunk.total_compressed_size();
  totals.values += chunk.num_values();
  const std::shared_ptr<parquet::Statistics> statistics = chunk.statistics();
  if (statistics == nullptr || !statistics->HasNullCount()) {
    totals.missing_statistics = true;
    return;
  }
  totals.nulls += statistics->null_count();
  if (statistics->HasMinMax()) return Widen(*statistics, type, totals);
  // Nothing but nulls and NaN has no bounds; anything else had values too long for the footer.
  const bool is_float = type->id() == TypeId::kFloat || type->id() == TypeId::kDouble;
  if (!is_float && statistics->null_count() < chunk.num_values()) totals.missing_bounds = true;
}

void AddBounds(int32_t id, const ColumnTotals& totals, MetricsMode mode, iceberg::DataFile& file) {
  if (!totals.min || !totals.max || totals.missing_bounds) return;
  if (auto lower = iceberg::LowerBound(*totals.min, mode)) file.lower_bounds[id] = std::move(*lower);
  if (auto upper = iceberg::UpperBound(*totals.max, mode)) file.upper_bounds[id] = std::move(*upper);
}

void AddColumn(int32_t id, const ColumnTotals& totals, MetricsMode mode, bool bounded,
               iceberg::DataFile& file) {
  file.column_sizes[id] = totals.size_bytes;
  if (!mode.has_counts()) return;
  file.value_counts[id] = totals.values;
  if (totals.missing_statistics) return;
  file.null_value_counts[id] = totals.nulls;
  if (bounded && mode.has_bounds()) AddBounds(id, totals, mode, file);
}

int64_t RowGroupStart(const parquet::RowGroupMetaData& group) {
  const auto column = group.ColumnChunk(0);
  const int64_t data = column->data_page_offset();
  return column->has_dictionary_page() ? std::min(data, column->dictionary_page_offset()) : data;
}

}  // namespace

Result<iceberg::DataFile> DescribeFile(const parquet::FileMetaData& footer, const iceberg::Schema& schema,
                                       const iceberg::MetricsConfig& modes,
                                       const std::map<int32_t, int64_t>& nan_counts) {
  std::map<int32_t, ColumnTotals> columns;
  iceberg::DataFile file;
  file.record_count = footer.num_rows();
  for (int g = 0; g < footer.num_row_groups(); ++g) {
    const auto group = footer.RowGroup(g);
    file.split_offsets.push_back(RowGroupStart(*group));
    for (int c = 0; c < group->num_columns(); ++c) {
      const int32_t id = footer.schema()->Column(c)->schema_node()->field_id();
      AddChunk(*group->ColumnChunk(c), schema.FindById(id)->type, columns[id]);
    }
  }
  std::set<int32_t> bounded;
  AddBounded(schema.fields(), bounded);
  for (const auto& [id, totals] : columns)
    AddColumn(id, totals, modes.ModeOf(id), bounded.contains(id), file);
  for (const auto& [id, nans] : nan_counts) {
    if (modes.ModeOf(id).has_counts()) file.nan_value_counts[id] = nans;
  }
  return file;
}

}  // namespace firn::write
