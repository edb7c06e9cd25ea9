#include "firn/decode/json/json_decoder.h"

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "firn/decode/json/bound_record.h"
#include "firn/decode/json/change_collector.h"
#include "firn/decode/json/row_parser.h"
#include "firn/decode/reasons.h"
#include "firn/iceberg/scan/arrow_schema.h"

namespace firn::decode {

namespace {

using record::RawBatch;

record::DeadLetter MakeDeadLetter(const RawBatch& raw, size_t i, std::string_view target_table) {
  record::DeadLetter letter;
  letter.partition = raw.partition;
  letter.offset = raw.offsets[i];
  letter.timestamp_ms = raw.timestamps_ms[i];
  letter.target_table = target_table;
  if (!raw.keys[i].is_null()) letter.key = std::string(raw.key(i));
  if (!raw.values[i].is_null()) letter.value = std::string(raw.value(i));
  const auto by_record = [](const RawBatch::Header& header, size_t record) { return header.record < record; };
  auto header = std::lower_bound(raw.headers.begin(), raw.headers.end(), i, by_record);
  for (; header != raw.headers.end() && header->record == i; ++header) {
    std::optional<std::string> value;
    if (!header->value.is_null())
      value = std::string(raw.arena.View(header->value.begin, header->value.length));
    letter.headers.emplace_back(raw.arena.View(header->name.begin, header->name.length), std::move(value));
  }
  letter.stage = "decode";
  return letter;
}

class JsonDecoder : public Decoder {
 public:
  JsonDecoder(std::unique_ptr<BoundRecord> record, std::shared_ptr<arrow::Schema> arrow_schema)
      : record_(std::move(record)), parser_(record_.get()), arrow_schema_(std::move(arrow_schema)) {}

  Result<DecodeResult> Decode(const RawBatch& raw, size_t begin) override {
    try {
      return DecodeAll(raw, begin);
    } catch (const OutOfMemory& failure) {
      record_->root().Truncate(0);
      return Error(ErrorKind::kResourceExhausted,
                   fmt::format("no memory for {} bytes of decoded columns", failure.bytes));
    } catch (const std::bad_alloc&) {
      record_->root().Truncate(0);
      return Error(ErrorKind::kResourceExhausted, "no memory left while decoding JSON");
    }
  }

  const iceberg::SchemaPtr& schema() const override { return record_->bound().schema; }

 private:
  DecodeResult DecodeAll(const RawBatch& raw, size_t begin) {
    DecodeResult result;
    Column& root = record_->root();
    root.Truncate(0);
    root.Expect(static_cast<int64_t>(raw.size() - begin));
    size_t i = begin;
    for (; i < raw.size() && DecodeOne(raw, i, result); ++i) {
    }
    result.consumed = i - begin;
    if (i < raw.size()) result.delta = CollectChanges(raw, i);
    if (root.length() > 0) result.batch.rows = TakeRows();
    result.batch.schema_id = schema()->schema_id();
    return result;
  }

  /// False when the record needs a change of the schema.
  bool DecodeOne(const RawBatch& raw, size_t i, DecodeResult& result) {
    if (raw.values[i].is_null()) {
      DecodeTombstone(raw, i, result);
      return true;
    }
    const std::string_view value = raw.value(i);
    switch (parser_.Parse(value)) {
      case RowOutcome::kRow:
        result.counters.unknown_fields_ignored += parser_.unknown_fields_ignored();
        result.batch.input_bytes += static_cast<int64_t>(value.size());
        return true;
      case RowOutcome::kBad:
        AddDeadLetter(raw, i, parser_.failure(), result);
        return true;
      case RowOutcome::kNeedsChange:
        break;
    }
    if (HasRoom(parser_.needs())) return false;
    AddDeadLetter(raw, i, TooManyColumns(), result);
    return true;
  }

  void DecodeTombstone(const RawBatch& raw, size_t i, DecodeResult& result) const {
    if (record_->bound().dead_letter_tombstones) {
      AddDeadLetter(raw, i, {reason::kTombstone, "the record has no value"}, result);
    } else {
      ++result.counters.tombstones_skipped;
    }
  }

  void AddDeadLetter(const RawBatch& raw, size_t i, const Failure& failure, DecodeResult& result) const {
    record::DeadLetter letter = MakeDeadLetter(raw, i, record_->bound().target_table);
    letter.reason = failure.reason;
    letter.message = failure.message;
    result.dead_letters.push_back(std::move(letter));
  }

  bool HasRoom(const Needs& needs) const {
    return ChangeCollector(record_->field_count(), record_->bound().max_columns).Add(needs);
  }

  Failure TooManyColumns() const {
    return {reason::kTooManyColumns,
            fmt::format("its new fields would bring the table beyond max_columns ({}; it has {})",
                        record_->bound().max_columns, record_->field_count())};
  }

  /// Looks ahead from the record that needs a change to the end of the batch; leaves the columns as they are.
  record::SchemaDelta CollectChanges(const RawBatch& raw, size_t from) {
    ChangeCollector changes(record_->field_count(), record_->bound().max_columns);
    Column& root = record_->root();
    const int64_t rows = root.length();
    for (size_t i = from; i < raw.size(); ++i) {
      if (raw.values[i].is_null()) continue;
      // A record that does not fit any more is a dead letter or the reason of the next delta: when the rest
      // is decoded.
      if (parser_.Parse(raw.value(i)) == RowOutcome::kNeedsChange)
        static_cast<void>(changes.Add(parser_.needs()));
      root.Truncate(rows);
    }
    return changes.Take();
  }

  std::shared_ptr<arrow::RecordBatch> TakeRows() {
    Column& root = record_->root();
    const int64_t rows = root.length();
    std::vector<std::shared_ptr<arrow::ArrayData>> columns;
    for (size_t i = 0; i < root.children().size(); ++i) {
      columns.push_back(root.child(i).Finish(rows, arrow_schema_->field(static_cast<int>(i))->type()));
    }
    root.Truncate(0);
    return arrow::RecordBatch::Make(arrow_schema_, rows, std::move(columns));
  }

  std::unique_ptr<BoundRecord> record_;
  RowParser parser_;
  std::shared_ptr<arrow::Schema> arrow_schema_;
};

}  // namespace

Result<std::unique_ptr<Decoder>> MakeJsonDecoder(const BoundSchema& bound) {
  FIRN_CHECK(bound.schema != nullptr, "a decoder is bound to a schema");
  BoundSchema with_pool = bound;
  if (with_pool.pool == nullptr) with_pool.pool = arrow::default_memory_pool();
  try {
    FIRN_ASSIGN(auto arrow_schema, iceberg::ToArrowSchema(*bound.schema));
    FIRN_ASSIGN(auto record, BoundRecord::Make(with_pool));
    return std::unique_ptr<Decoder>(
        std::make_unique<JsonDecoder>(std::move(record), std::move(arrow_schema)));
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::kResourceExhausted, "no memory for a JSON decoder");
  }
}

}  // namespace firn::decode
