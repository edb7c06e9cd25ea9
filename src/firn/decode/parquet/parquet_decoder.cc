#include "firn/decode/parquet/parquet_decoder.h"

#include <arrow/api.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "firn/base/bytes.h"
#include "firn/decode/evolution.h"
#include "firn/decode/parquet/arrow_cell.h"
#include "firn/decode/parquet/file_columns.h"
#include "firn/decode/parquet/row_text.h"
#include "firn/decode/reasons.h"
#include "firn/decode/row_decoder.h"
#include "firn/iceberg/scan/arrow_error.h"
#include "firn/iceberg/scan/arrow_schema.h"
#include "firn/iceberg/scan/take.h"

namespace firn::decode {

using iceberg::NestedField;
using iceberg::TypeId;
using record::RawBatch;

namespace {

using ArrayPtr = std::shared_ptr<arrow::Array>;

constexpr size_t kExcerptBytes = 60;

/// Elements of a row of a list or map.
struct Elements {
  ArrayPtr values;
  int64_t begin = 0;
  int64_t end = 0;
};

std::optional<Elements> ElementsAt(const arrow::Array& array, int64_t row) {
  const auto of = [row](const auto& list) {
    return Elements{list.values(), list.value_offset(row), list.value_offset(row + 1)};
  };
  switch (array.type_id()) {
    case arrow::Type::LIST:
      return of(static_cast<const arrow::ListArray&>(array));
    case arrow::Type::LARGE_LIST:
      return of(static_cast<const arrow::LargeListArray&>(array));
    case arrow::Type::FIXED_SIZE_LIST:
      return of(static_cast<const arrow::FixedSizeListArray&>(array));
    default:
      return std::nullopt;
  }
}

/// Cells of rows into columns, one row after another.
class CellWriter {
 public:
  /// One cell for the column's next row. False when it does not fit: see failure().
  bool Append(const FileSource& source, const arrow::Array& array, int64_t row) {
    Column& column = *source.column;
    if (array.IsNull(row)) {
      if (column.required())
        return Wrong(column, array, row, {reason::kNullRequired, "a value, as the column is required,"});
      column.AppendNull();
      return true;
    }
    switch (column.type_id()) {
      case TypeId::kStruct:
        return AppendStruct(source, array, row);
      case TypeId::kList:
        return AppendList(source, array, row);
      case TypeId::kMap:
        return AppendMap(source, array, row);
      default:
        break;
    }
    const CellOutcome outcome = AppendArrowCell(column, array, row, source.is_int96);
    return outcome.ok() || Wrong(column, array, row, outcome);
  }

  bool Wrong(const Column& column, const arrow::Array& array, int64_t row, const CellOutcome& outcome) {
    path_.clear();
    const std::string found =
        CellToJson(array, row).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    failure_ = {outcome.reason, fmt::format("found {} ({}), expected {} for a column of type {}",
                                            Excerpt(found, kExcerptBytes), array.type()->ToString(),
                                            outcome.expected, column.type().ToString())};
    return false;
  }

  bool Missing(const Column& column) {
    path_.clear();
    failure_ = {reason::kMissingRequired,
                fmt::format("a column of type {} is required, but the file has no such field",
                            column.type().ToString())};
    return false;
  }

  /// Adds a step to the path of the failure on the way up.
  bool Through(std::string_view step) {
    const bool needs_dot = !path_.empty() && path_.front() != '[';
    path_.insert(0, fmt::format("{}{}", step, needs_dot ? "." : ""));
    return false;
  }

  Failure failure() const {
    return {failure_.reason, fmt::format("field '{}': {}", path_, failure_.message)};
  }

 private:
  bool AppendStruct(const FileSource& source, const arrow::Array& array, int64_t row) {
    Column& column = *source.column;
    if (array.type_id() != arrow::Type::STRUCT) return Mismatch(column, array, row);
    const auto& fields = static_cast<const arrow::StructArray&>(array);
    const int64_t at = column.length();
    for (const FileSource& child : source.children) {
      child.column->Align(at);
      if (child.index >= 0) {
        if (!Append(child, *fields.field(child.index), row)) return Through(child.column->field().name);
      } else if (child.column->has_default()) {
        child.column->Align(at + 1);
      } else if (child.column->required()) {
        Missing(*child.column);
        return Through(child.column->field().name);
      }
    }
    column.EndStruct();
    return true;
  }

  bool AppendList(const FileSource& source, const arrow::Array& array, int64_t row) {
    const std::optional<Elements> elements = ElementsAt(array, row);
    if (!elements || source.children.size() != 1) return Mismatch(*source.column, array, row);
    for (int64_t i = elements->begin; i < elements->end; ++i) {
      if (!Append(source.children[0], *elements->values, i))
        return Through(fmt::format("[{}]", i - elements->begin));
    }
    source.column->EndList();
    return true;
  }

  bool AppendMap(const FileSource& source, const arrow::Array& array, int64_t row) {
    if (array.type_id() != arrow::Type::MAP || source.children.size() != 2)
      return Mismatch(*source.column, array, row);
    const auto& map = static_cast<const arrow::MapArray&>(array);
    for (int64_t i = map.value_offset(row); i < map.value_offset(row + 1); ++i) {
      if (!Append(source.children[0], *map.keys(), i)) return Through("key");
      if (!Append(source.children[1], *map.items(), i)) return Through("value");
    }
    source.column->EndList();
    return true;
  }

  bool Mismatch(const Column& column, const arrow::Array& array, int64_t row) {
    return Wrong(column, array, row, {reason::kTypeMismatch, ExpectedJson(column)});
  }

  Failure failure_;
  std::string path_;
};

class ParquetDecoder : public Decoder {
 public:
  ParquetDecoder(ParquetMatch match, BoundSchema bound, std::shared_ptr<arrow::Schema> arrow_schema)
      : match_(match), bound_(std::move(bound)), arrow_schema_(std::move(arrow_schema)) {}

  Status Bind() {
    root_field_.name = "record";
    root_field_.required = true;
    root_field_.type = bound_.schema->as_struct();
    FIRN_ASSIGN(root_, Column::Make(root_field_, bound_.pool));
    for (const auto& child : root_->children()) FIRN_TRY(BindColumn(*child, true));
    if (bound_.unknown_fields == UnknownFields::kRescue && rescued_ == nullptr) return NoRescuedColumn();
    return Ok();
  }

  Result<DecodeResult> Decode(const RawBatch& raw, size_t begin) override {
    if (raw.rows == nullptr) {
      return Error(ErrorKind::kUnsupported, "format parquet: the records are no rows of Parquet files")
          .WithRemedy("Use it with a source of files.");
    }
    try {
      return DecodeRows(raw, begin);
    } catch (const OutOfMemory& failure) {
      root_->Truncate(0);
      return Error(ErrorKind::kResourceExhausted,
                   fmt::format("no memory for {} bytes of decoded columns", failure.bytes));
    } catch (const std::bad_alloc&) {
      root_->Truncate(0);
      return Error(ErrorKind::kResourceExhausted, "no memory left while decoding rows");
    }
  }

  const iceberg::SchemaPtr& schema() const override { return bound_.schema; }

 private:
  Status BindColumn(Column& column, bool is_top_level) {
    const NestedField& field = column.field();
    column.binding().may_widen = MayWiden(bound_, field.id);
    if (is_top_level && field.name == kRescuedColumn && bound_.unknown_fields == UnknownFields::kRescue) {
      FIRN_TRY(CheckRescuedColumn(field));
      rescued_ = &column;
    }
    const auto mapping = bound_.mappings.find(field.id);
    const bool is_mapped = is_top_level && mapping != bound_.mappings.end();
    if (is_mapped) column.binding().epoch_digits = EpochDigits(mapping->second.epoch_unit);
    for (size_t i = 0; i < column.children().size(); ++i) {
      FIRN_TRY(BindColumn(column.child(i), false));
      if (column.type_id() == TypeId::kMap && i == 0) column.child(0).binding().may_widen = false;
    }
    return is_mapped ? BindBytesEncoding(column, mapping->second.bytes_encoding) : Ok();
  }

  Result<DecodeResult> DecodeRows(const RawBatch& raw, size_t begin) {
    FIRN_TRY(Match(raw.rows->schema()));
    DecodeResult result;
    result.batch.schema_id = schema()->schema_id();
    if (!columns_.needs.empty() && begin < raw.size()) {
      result.delta = columns_.needs;
      return result;
    }
    FIRN_TRY(Resolve(*raw.rows));
    root_->Truncate(0);
    for (size_t i = begin; i < raw.size(); ++i) DecodeRow(raw, i, result);
    result.consumed = raw.size() - begin;
    if (result.batch.records.empty()) return result;
    result.batch.input_bytes = record::PayloadBytes(raw);
    FIRN_ASSIGN(result.batch.rows, TakeRows(result.batch.records, begin, raw.size()));
    return result;
  }

  /// Files of one source mostly have one schema: it is looked at once.
  Status Match(const std::shared_ptr<arrow::Schema>& file) {
    if (file_schema_ != nullptr && (file_schema_ == file || file_schema_->Equals(file, true))) return Ok();
    FIRN_ASSIGN(columns_, MatchColumns(*file, bound_, match_, *root_));
    file_schema_ = file;
    return Ok();
  }

  /// The arrays that this batch has for the table's columns.
  Status Resolve(const arrow::RecordBatch& rows) {
    rows_ = &rows;
    arrays_.clear();
    for (const FileSource& source : columns_.sources) {
      ArrayPtr array = source.index < 0 ? nullptr : rows.column(source.index);
      for (const int step : source.path) {
        FIRN_ARROW_ASSIGN(
            array, static_cast<const arrow::StructArray&>(*array).GetFlattenedField(step, bound_.pool));
      }
      arrays_.push_back(std::move(array));
    }
    return Ok();
  }

  void DecodeRow(const RawBatch& raw, size_t i, DecodeResult& result) {
    const auto row = static_cast<int64_t>(result.batch.records.size());
    int64_t ignored = 0;
    if (TakeUnknown(static_cast<int64_t>(i), row, &ignored) && TakeCells(static_cast<int64_t>(i), row)) {
      root_->EndStruct();
      result.batch.records.push_back(static_cast<uint32_t>(i));
      result.counters.unknown_fields_ignored += ignored;
      return;
    }
    root_->Truncate(row);
    record::DeadLetter letter = MakeDeadLetter(raw, i, bound_.target_table, failure_);
    letter.value = RowToJson(*rows_, static_cast<int64_t>(i));
    result.dead_letters.push_back(std::move(letter));
  }

  bool TakeUnknown(int64_t i, int64_t row, int64_t* ignored) {
    nlohmann::ordered_json rescued = nlohmann::ordered_json::object();
    for (const UnknownPart& part : columns_.unknown) {
      const arrow::Array& array = *rows_->column(part.index);
      if (array.IsNull(i)) continue;
      if (bound_.unknown_fields == UnknownFields::kDeadLetter) {
        failure_ = {reason::kUnknownField,
                    fmt::format("field '{}': unknown field: {}", part.path, part.why_not)};
        return false;
      }
      if (rescued_ != nullptr) {
        rescued[rows_->column_name(part.index)] = CellToJson(array, i);
      } else {
        ++*ignored;
      }
    }
    if (rescued.empty()) return true;
    const std::string text = rescued.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    rescued_->Align(row);
    rescued_->AppendBytes(text.data(), static_cast<int64_t>(text.size()));
    return true;
  }

  bool TakeCells(int64_t i, int64_t row) {
    for (size_t c = 0; c < columns_.sources.size(); ++c) {
      const FileSource& source = columns_.sources[c];
      if (TakeCell(source, arrays_[c].get(), i, row)) continue;
      cells_.Through(source.column->field().name);
      failure_ = cells_.failure();
      return false;
    }
    return true;
  }

  bool TakeCell(const FileSource& source, const arrow::Array* array, int64_t i, int64_t row) {
    Column& column = *source.column;
    if (array == nullptr) {
      if (!column.required() || column.has_default()) return true;
      return cells_.Missing(column);
    }
    if (source.as_is) return CheckAsIs(column, *array, i);
    column.Align(row);
    return cells_.Append(source, *array, i);
  }

  bool CheckAsIs(const Column& column, const arrow::Array& array, int64_t i) {
    if (array.IsNull(i)) {
      return !column.required() ||
             cells_.Wrong(column, array, i, {reason::kNullRequired, "a value, as the column is required,"});
    }
    const bool good = column.type_id() != TypeId::kString ||
                      IsValidUtf8(static_cast<const arrow::StringArray&>(array).GetView(i));
    return good || cells_.Wrong(column, array, i, {reason::kInvalidUtf8, "UTF-8 text"});
  }

  Result<std::shared_ptr<arrow::RecordBatch>> TakeRows(const std::vector<uint32_t>& records, size_t begin,
                                                       size_t end) {
    const auto rows = static_cast<int64_t>(records.size());
    const bool all = records.size() == end - begin;
    ArrayPtr indices;
    if (!all) {
      FIRN_ASSIGN(indices, Indices(records));
    }
    std::vector<std::shared_ptr<arrow::ArrayData>> columns;
    for (size_t c = 0; c < columns_.sources.size(); ++c) {
      const FileSource& source = columns_.sources[c];
      if (arrays_[c] == nullptr || !source.as_is) {
        columns.push_back(source.column->Finish(rows, arrow_schema_->field(static_cast<int>(c))->type()));
      } else if (all) {
        columns.push_back(arrays_[c]->Slice(static_cast<int64_t>(begin), rows)->data());
      } else {
        FIRN_ASSIGN(const ArrayPtr taken, iceberg::Take(arrays_[c], indices, bound_.pool));
        columns.push_back(taken->data());
      }
    }
    root_->Truncate(0);
    return arrow::RecordBatch::Make(arrow_schema_, rows, std::move(columns));
  }

  Result<ArrayPtr> Indices(const std::vector<uint32_t>& records) const {
    arrow::Int64Builder builder(bound_.pool);
    FIRN_ARROW_TRY(builder.Reserve(static_cast<int64_t>(records.size())));
    for (const uint32_t record : records) builder.UnsafeAppend(record);
    FIRN_ARROW_ASSIGN(auto array, builder.Finish());
    return array;
  }

  const ParquetMatch match_;
  const BoundSchema bound_;
  const std::shared_ptr<arrow::Schema> arrow_schema_;
  NestedField root_field_;
  std::unique_ptr<Column> root_;
  Column* rescued_ = nullptr;
  std::shared_ptr<arrow::Schema> file_schema_;
  FileColumns columns_;
  const arrow::RecordBatch* rows_ = nullptr;  ///< being decoded
  std::vector<ArrayPtr> arrays_;
  CellWriter cells_;
  Failure failure_;
};

/// Why a file's column is none of the new table's; empty when it is.
std::string WhyLeftOut(const arrow::Field& field, const std::vector<NestedField>& columns) {
  if (field.name().empty()) return "it has no name";
  if (iceberg::IsReservedColumnName(field.name())) return "Iceberg reserves the name";
  if (field.name() == kRescuedColumn || field.name() == kKafkaColumn) return "Firn uses the name itself";
  const auto variant = std::ranges::find_if(
      columns, [&](const NestedField& other) { return EqualsIgnoringCase(other.name, field.name()); });
  return variant == columns.end() ? std::string()
                                  : fmt::format("it differs only in case from '{}'", variant->name);
}

}  // namespace

Result<std::unique_ptr<Decoder>> MakeParquetDecoder(ParquetMatch match, const BoundSchema& bound) {
  return BindDecoder(bound, [match](const BoundSchema& with_pool) -> Result<std::unique_ptr<Decoder>> {
    FIRN_ASSIGN(auto arrow_schema, iceberg::ToArrowSchema(*with_pool.schema));
    auto decoder = std::make_unique<ParquetDecoder>(match, with_pool, std::move(arrow_schema));
    FIRN_TRY(decoder->Bind());
    return std::unique_ptr<Decoder>(std::move(decoder));
  });
}

Result<InferredSchema> InferParquetSchema(const std::vector<RawBatch>& sample) {
  InferredSchema inferred;
  std::vector<NestedField> columns;
  std::set<std::string> seen;
  for (const RawBatch& raw : sample) {
    if (raw.rows == nullptr) continue;
    inferred.records += static_cast<int64_t>(raw.size());
    const std::set<std::string> int96 = Int96ColumnsOf(*raw.rows->schema());
    for (const auto& field : raw.rows->schema()->fields()) {
      if (!seen.insert(field->name()).second) continue;
      std::string why = WhyLeftOut(*field, columns);
      const auto type = NewColumnType(*field->type(), int96.contains(field->name()));
      if (why.empty() && !type.ok()) why = type.error().message();
      if (!why.empty()) {
        inferred.notes.push_back(fmt::format("field '{}': left out: {}", field->name(), why));
        continue;
      }
      NestedField column;
      column.name = field->name();
      column.type = *type;
      columns.push_back(std::move(column));
    }
  }
  if (columns.empty()) {
    return Error(ErrorKind::kInvalidArgument,
                 "no schema can be inferred: no Parquet file with a usable column")
        .WithRemedy("Declare the columns under 'columns:'.");
  }
  int32_t next_id = 1;
  inferred.schema = iceberg::AssignFreshIds(iceberg::Schema(0, std::move(columns)), next_id);
  return inferred;
}

}  // namespace firn::decode
