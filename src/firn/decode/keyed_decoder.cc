#include "firn/decode/keyed_decoder.h"

#include <arrow/api.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "firn/decode/evolution.h"
#include "firn/decode/reasons.h"
#include "firn/decode/row_decoder.h"
#include "firn/iceberg/scan/arrow_error.h"
#include "firn/iceberg/scan/arrow_schema.h"
#include "firn/iceberg/scan/take.h"

namespace firn::decode {

using iceberg::NestedField;
using record::RawBatch;

namespace {

using ArrayPtr = std::shared_ptr<arrow::Array>;

/// The table's schema with columns that no half alone must fill.
iceberg::SchemaPtr WithoutRequired(const iceberg::Schema& schema,
                                   const std::function<bool(const NestedField&)>& keep) {
  std::vector<NestedField> fields;
  for (NestedField field : schema.fields()) {
    if (!keep(field)) continue;
    field.required = false;
    fields.push_back(std::move(field));
  }
  return std::make_shared<const iceberg::Schema>(schema.schema_id(), std::move(fields));
}

BoundSchema BindValue(const BoundSchema& bound) {
  BoundSchema value = bound;
  value.schema = WithoutRequired(*bound.schema, [](const NestedField&) { return true; });
  return value;
}

BoundSchema BindKey(const KeyedFormat& format, const BoundSchema& bound) {
  BoundSchema key = bound;
  key.dead_letter_tombstones = false;  // a null key is no tombstone
  key.scalar_column = format.column;
  key.schema = WithoutRequired(*bound.schema, [&](const NestedField& field) {
    return field.name.starts_with(format.prefix) || field.name == format.column ||
           field.name == kRescuedColumn;
  });
  if (format.prefix.empty()) return key;
  for (const NestedField& field : key.schema->fields()) {
    if (field.name.starts_with(format.prefix) && field.name != format.column)
      key.mappings[field.id].from = EscapePath(field.name.substr(format.prefix.size()));
  }
  for (record::RefusedChange& refused : key.refused) {
    if (refused.field_id == 0 && refused.name.starts_with(format.prefix))
      refused.name.erase(0, format.prefix.size());
  }
  return key;
}

/// The first `count` records of a batch, of which `values` are the values.
RawBatch CopyRecords(const RawBatch& raw, const std::vector<record::Slice>& values, size_t count) {
  RawBatch copy;
  copy.partition = raw.partition;
  copy.range = raw.range;
  copy.file = raw.file;
  for (size_t i = 0; i < count; ++i) {
    copy.offsets.push_back(raw.offsets[i]);
    copy.timestamps_ms.push_back(raw.timestamps_ms[i]);
    copy.keys.emplace_back();
    record::Slice slice = values[i];
    if (!slice.is_null()) slice.begin = copy.arena.Append(raw.arena.View(slice.begin, slice.length));
    copy.values.push_back(slice);
  }
  return copy;
}

void Truncate(RawBatch* raw, size_t count) {
  raw->offsets.resize(count);
  raw->timestamps_ms.resize(count);
  raw->keys.resize(count);
  raw->values.resize(count);
}

class KeyedDecoder : public Decoder {
 public:
  KeyedDecoder(KeyedFormat format, BoundSchema bound, std::shared_ptr<arrow::Schema> arrow_schema)
      : format_(std::move(format)), bound_(std::move(bound)), arrow_schema_(std::move(arrow_schema)) {}

  Status Bind() {
    FIRN_ASSIGN_CTX(key_, format_.make_key(BindKey(format_, bound_)), "decode.key");
    FIRN_ASSIGN_CTX(value_, format_.make_value(BindValue(bound_)), "decode.value");
    return Ok();
  }

  Result<DecodeResult> Decode(const RawBatch& raw, size_t begin) override {
    RawBatch keys = CopyRecords(raw, raw.keys, raw.size());
    FIRN_ASSIGN(DecodeResult key, key_->Decode(keys, begin));
    FIRN_ASSIGN(DecodeResult value, DecodeValues(raw, begin, key));
    if (value.consumed < key.consumed) {
      // The value's cut comes first: once more, so that nothing is counted that lies beyond it.
      Truncate(&keys, begin + value.consumed);
      std::optional<record::SchemaDelta> delta = std::move(key.delta);
      FIRN_ASSIGN(key, key_->Decode(keys, begin));
      key.delta = std::move(delta);
    }
    FIRN_CHECK(key.consumed == value.consumed, "both halves take the same records");
    return Merge(raw, std::move(key), std::move(value));
  }

  const iceberg::SchemaPtr& schema() const override { return bound_.schema; }

 private:
  using Letters = std::vector<record::DeadLetter>;

  /// Up to where the keys were cut.
  Result<DecodeResult> DecodeValues(const RawBatch& raw, size_t begin, const DecodeResult& key) {
    if (!key.delta) return value_->Decode(raw, begin);
    RawBatch before_cut = CopyRecords(raw, raw.values, begin + key.consumed);
    for (size_t i = 0; i < before_cut.size(); ++i) {
      if (raw.keys[i].is_null()) continue;
      before_cut.keys[i] = {before_cut.arena.Append(raw.key(i)), raw.keys[i].length};
    }
    return value_->Decode(before_cut, begin);
  }

  Result<DecodeResult> Merge(const RawBatch& raw, DecodeResult key, DecodeResult value) {
    DecodeResult result;
    result.consumed = value.consumed;
    result.counters = value.counters;
    result.counters.unknown_fields_ignored += key.counters.unknown_fields_ignored;
    result.delta = MergeDeltas(std::move(key.delta), std::move(value.delta));
    result.batch.schema_id = bound_.schema->schema_id();
    result.batch.input_bytes = value.batch.input_bytes;
    const std::vector<size_t> bad_keys = TakeLetters(raw, key.dead_letters, value, &result.dead_letters);
    if (value.batch.rows != nullptr) FIRN_TRY(MergeRows(raw, bad_keys, key.batch, value.batch, &result));
    std::ranges::sort(result.dead_letters, {}, &record::DeadLetter::offset);
    return result;
  }

  std::optional<record::SchemaDelta> MergeDeltas(std::optional<record::SchemaDelta> key,
                                                 std::optional<record::SchemaDelta> value) const {
    if (!key) return value;
    for (auto& field : key->added) {
      if (field.parent_id == 0 && field.name != format_.column) field.name.insert(0, format_.prefix);
    }
    if (!value) return key;
    for (auto& field : key->added) {
      const bool known = std::ranges::any_of(value->added, [&](const auto& other) {
        return other.parent_id == field.parent_id && other.name == field.name;
      });
      if (!known) value->added.push_back(std::move(field));
    }
    std::ranges::move(key->widened, std::back_inserter(value->widened));
    return value;
  }

  /// Dead letters of both halves with the original record. Gives the records whose key is bad, ascending.
  std::vector<size_t> TakeLetters(const RawBatch& raw, const Letters& of_keys, DecodeResult& value,
                                  Letters* letters) const {
    *letters = Originals(raw, value.dead_letters, "");
    std::vector<size_t> bad_keys;
    for (record::DeadLetter& letter : Originals(raw, of_keys, "key: ")) {
      const size_t i = RecordAt(raw, letter.offset);
      const bool is_row = std::ranges::binary_search(value.batch.records, i);
      if (!is_row) continue;  // a tombstone, or bad for its value already
      bad_keys.push_back(i);
      letters->push_back(std::move(letter));
    }
    return bad_keys;
  }

  Letters Originals(const RawBatch& raw, const Letters& letters, std::string_view prefix) const {
    Letters originals;
    for (const record::DeadLetter& letter : letters) {
      originals.push_back(MakeDeadLetter(raw, RecordAt(raw, letter.offset), bound_.target_table,
                                         {letter.reason, fmt::format("{}{}", prefix, letter.message)}));
    }
    return originals;
  }

  static size_t RecordAt(const RawBatch& raw, int64_t offset) {
    return static_cast<size_t>(std::ranges::lower_bound(raw.offsets, offset) - raw.offsets.begin());
  }

  Status MergeRows(const RawBatch& raw, const std::vector<size_t>& bad_keys, const record::Batch& key,
                   const record::Batch& value, DecodeResult* result) {
    std::vector<std::optional<int64_t>> key_rows;
    std::vector<std::optional<int64_t>> value_rows;
    size_t key_row = 0;
    for (size_t row = 0; row < value.records.size(); ++row) {
      const uint32_t record = value.records[row];
      if (std::ranges::binary_search(bad_keys, record)) continue;
      while (key_row < key.records.size() && key.records[key_row] < record) ++key_row;
      const bool has_key = key_row < key.records.size() && key.records[key_row] == record;
      key_rows.push_back(has_key ? std::optional(static_cast<int64_t>(key_row)) : std::nullopt);
      value_rows.emplace_back(static_cast<int64_t>(row));
      result->batch.records.push_back(record);
    }
    if (value_rows.empty()) return Ok();
    FIRN_ASSIGN(const ArrayPtr key_indices, Indices(key_rows));
    FIRN_ASSIGN(const ArrayPtr value_indices, Indices(value_rows));
    arrow::ArrayVector columns;
    for (const auto& field : arrow_schema_->fields()) {
      FIRN_ASSIGN(const ArrayPtr from_value, TakeColumn(value.rows.get(), field->name(), value_indices));
      FIRN_ASSIGN(const ArrayPtr from_key, TakeColumn(key.rows.get(), field->name(), key_indices));
      FIRN_ASSIGN(ArrayPtr column, Choose(field->name(), from_value, from_key));
      columns.push_back(std::move(column));
    }
    return TakeComplete(raw, std::move(columns), result);
  }

  Result<ArrayPtr> Indices(const std::vector<std::optional<int64_t>>& rows) const {
    arrow::Int64Builder builder(bound_.pool);
    FIRN_ARROW_TRY(builder.Reserve(static_cast<int64_t>(rows.size())));
    for (const auto& row : rows) {
      if (row) {
        builder.UnsafeAppend(*row);
      } else {
        builder.UnsafeAppendNull();
      }
    }
    FIRN_ARROW_ASSIGN(auto array, builder.Finish());
    return array;
  }

  Result<ArrayPtr> TakeAscending(const ArrayPtr& array, const ArrayPtr& indices) const {
    const bool all = indices->null_count() == 0 && indices->length() == array->length();
    if (all) return array;
    return iceberg::Take(array, indices, bound_.pool);
  }

  /// Null where the half does not have the column, or nothing in it.
  Result<ArrayPtr> TakeColumn(const arrow::RecordBatch* rows, const std::string& name,
                              const ArrayPtr& indices) const {
    const ArrayPtr column = rows == nullptr ? nullptr : rows->GetColumnByName(name);
    if (column == nullptr || column->null_count() == column->length()) return ArrayPtr();
    return TakeAscending(column, indices);
  }

  /// The value's cells, and the key's where those are null.
  Result<ArrayPtr> Choose(const std::string& name, const ArrayPtr& value, const ArrayPtr& key) const {
    if (name == kRescuedColumn && key != nullptr) return JoinRescued(value.get(), *key);
    if (value == nullptr || key == nullptr) return value != nullptr ? value : key;
    if (value->null_count() == 0) return value;
    std::vector<std::optional<int64_t>> rows;
    for (int64_t row = 0; row < value->length(); ++row)
      rows.emplace_back(value->IsNull(row) ? value->length() + row : row);
    FIRN_ASSIGN(const ArrayPtr indices, Indices(rows));
    FIRN_ARROW_ASSIGN(const auto both, arrow::Concatenate({value, key}, bound_.pool));
    return iceberg::Take(both, indices, bound_.pool);
  }

  /// `{"a":1,"_key":{"b":2}}`: what either half had too much.
  Result<ArrayPtr> JoinRescued(const arrow::Array* value, const arrow::Array& key) const {
    const auto text_at = [](const arrow::Array* array, int64_t row) -> std::string_view {
      if (array == nullptr || array->IsNull(row)) return {};
      return static_cast<const arrow::StringArray&>(*array).GetView(row);
    };
    arrow::StringBuilder builder(bound_.pool);
    for (int64_t row = 0; row < key.length(); ++row) {
      std::string_view of_value = text_at(value, row);
      const std::string_view of_key = text_at(&key, row);
      if (of_key.empty()) {
        FIRN_ARROW_TRY(of_value.empty() ? builder.AppendNull() : builder.Append(of_value));
        continue;
      }
      if (!of_value.empty()) of_value.remove_suffix(1);
      FIRN_ARROW_TRY(builder.Append(
          fmt::format("{}\"_key\":{}}}", of_value.empty() ? "{" : fmt::format("{},", of_value), of_key)));
    }
    FIRN_ARROW_ASSIGN(auto array, builder.Finish());
    return array;
  }

  /// Rows that have all required columns; the others are dead letters.
  Status TakeComplete(const RawBatch& raw, arrow::ArrayVector columns, DecodeResult* result) const {
    const std::vector<uint32_t> records = std::move(result->batch.records);
    result->batch.records.clear();
    std::vector<std::optional<int64_t>> complete;
    for (size_t row = 0; row < records.size(); ++row) {
      const NestedField* missing = MissingIn(columns, static_cast<int64_t>(row));
      if (missing == nullptr) {
        complete.emplace_back(static_cast<int64_t>(row));
        result->batch.records.push_back(records[row]);
        continue;
      }
      const std::string message = fmt::format(
          "field '{}': a column of type {} is required, but neither key nor value has a value for it",
          missing->name, missing->type->ToString());
      result->dead_letters.push_back(
          MakeDeadLetter(raw, records[row], bound_.target_table, {reason::kMissingRequired, message}));
    }
    if (complete.empty()) return Ok();
    FIRN_ASSIGN(const ArrayPtr indices, Indices(complete));
    const auto rows = static_cast<int64_t>(complete.size());
    for (int i = 0; i < arrow_schema_->num_fields(); ++i) {
      auto& column = columns[static_cast<size_t>(i)];
      if (column == nullptr) {
        FIRN_ARROW_ASSIGN(column, arrow::MakeArrayOfNull(arrow_schema_->field(i)->type(), rows, bound_.pool));
      } else {
        FIRN_ASSIGN(column, TakeAscending(column, indices));
      }
    }
    result->batch.rows = arrow::RecordBatch::Make(arrow_schema_, rows, std::move(columns));
    return Ok();
  }

  const NestedField* MissingIn(const arrow::ArrayVector& columns, int64_t row) const {
    for (size_t i = 0; i < columns.size(); ++i) {
      const NestedField& field = bound_.schema->fields()[i];
      if (field.required && (columns[i] == nullptr || columns[i]->IsNull(row))) return &field;
    }
    return nullptr;
  }

  const KeyedFormat format_;
  const BoundSchema bound_;
  const std::shared_ptr<arrow::Schema> arrow_schema_;
  std::unique_ptr<Decoder> key_;
  std::unique_ptr<Decoder> value_;
};

}  // namespace

Result<std::unique_ptr<Decoder>> MakeKeyedDecoder(const KeyedFormat& format, const BoundSchema& bound) {
  BoundSchema with_pool = bound;
  UseDefaultPool(&with_pool);
  FIRN_ASSIGN(auto arrow_schema, iceberg::ToArrowSchema(*bound.schema));
  auto decoder = std::make_unique<KeyedDecoder>(format, std::move(with_pool), std::move(arrow_schema));
  FIRN_TRY(decoder->Bind());
  return std::unique_ptr<Decoder>(std::move(decoder));
}

}  // namespace firn::decode
