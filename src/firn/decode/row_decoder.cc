#include "firn/decode/row_decoder.h"

#include <arrow/array/data.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "firn/decode/change_collector.h"
#include "firn/decode/reasons.h"
#include "firn/iceberg/scan/arrow_schema.h"

namespace firn::decode {

using record::RawBatch;

record::DeadLetter MakeDeadLetter(const RawBatch& raw, size_t i, std::string_view target_table,
                                  const Failure& failure) {
  record::DeadLetter letter = record::LetterOf(raw, i);
  letter.target_table = target_table;
  letter.stage = "decode";
  letter.reason = failure.reason;
  letter.message = failure.message;
  return letter;
}

namespace {

class RowDecoder : public Decoder {
 public:
  RowDecoder(std::unique_ptr<RowReader> reader, std::shared_ptr<arrow::Schema> arrow_schema)
      : reader_(std::move(reader)), arrow_schema_(std::move(arrow_schema)) {}

  Result<DecodeResult> Decode(const RawBatch& raw, size_t begin) override {
    try {
      return DecodeAll(raw, begin);
    } catch (const OutOfMemory& failure) {
      root().Truncate(0);
      return Error(ErrorKind::kResourceExhausted,
                   fmt::format("no memory for {} bytes of decoded columns", failure.bytes));
    } catch (const std::bad_alloc&) {
      root().Truncate(0);
      return Error(ErrorKind::kResourceExhausted, "no memory left while decoding records");
    }
  }

  const iceberg::SchemaPtr& schema() const override { return bound().schema; }

 private:
  const BoundSchema& bound() const { return reader_->bound(); }
  Column& root() { return reader_->root(); }

  Result<DecodeResult> DecodeAll(const RawBatch& raw, size_t begin) {
    root().Truncate(0);
    FIRN_TRY(reader_->Enter(raw, begin));
    DecodeResult result;
    root().Expect(static_cast<int64_t>(raw.size() - begin));
    result.batch.records.reserve(raw.size() - begin);
    size_t i = begin;
    for (; i < raw.size() && DecodeOne(raw, i, result); ++i) {
    }
    result.consumed = i - begin;
    if (i < raw.size()) result.delta = CollectChanges(raw, i);
    if (root().length() > 0) result.batch.rows = TakeRows();
    result.batch.schema_id = schema()->schema_id();
    return result;
  }

  /// False when the record needs a change of the schema.
  bool DecodeOne(const RawBatch& raw, size_t i, DecodeResult& result) {
    if (IsTombstone(raw, i)) {
      DecodeTombstone(raw, i, result);
      return true;
    }
    if (IsTooLong(raw, i)) {
      AddDeadLetter(raw, i, TooLong(raw, i), result);
      return true;
    }
    switch (reader_->Read(raw, i)) {
      case RowOutcome::kRow:
        result.counters.unknown_fields_ignored += reader_->unknown_fields_ignored();
        if (!raw.values[i].is_null()) result.batch.input_bytes += static_cast<int64_t>(raw.values[i].length);
        result.batch.records.push_back(static_cast<uint32_t>(i));
        return true;
      case RowOutcome::kBad:
        AddDeadLetter(raw, i, reader_->failure(), result);
        return true;
      case RowOutcome::kNeedsChange:
        break;
    }
    if (HasRoom(reader_->needs())) return false;
    AddDeadLetter(raw, i, TooManyColumns(), result);
    return true;
  }

  bool IsTombstone(const RawBatch& raw, size_t i) const {
    return raw.values[i].is_null() && !reader_->takes_null();
  }

  bool IsTooLong(const RawBatch& raw, size_t i) const {
    return record::RecordBytes(raw, i) > bound().max_record_bytes;
  }

  Failure TooLong(const RawBatch& raw, size_t i) const {
    return {reason::kRecordTooLong, fmt::format("the record has {} bytes, max_record_bytes is {}",
                                                record::RecordBytes(raw, i), bound().max_record_bytes)};
  }

  void DecodeTombstone(const RawBatch& raw, size_t i, DecodeResult& result) const {
    if (bound().dead_letter_tombstones) {
      AddDeadLetter(raw, i, {reason::kTombstone, "the record has no value"}, result);
    } else {
      ++result.counters.tombstones_skipped;
    }
  }

  void AddDeadLetter(const RawBatch& raw, size_t i, const Failure& failure, DecodeResult& result) const {
    result.dead_letters.push_back(MakeDeadLetter(raw, i, bound().target_table, failure));
  }

  bool HasRoom(const Needs& needs) const {
    return ChangeCollector(reader_->field_count(), bound().max_columns).Add(needs);
  }

  Failure TooManyColumns() const {
    return {reason::kTooManyColumns,
            fmt::format("its new fields would bring the table beyond max_columns ({}; it has {})",
                        bound().max_columns, reader_->field_count())};
  }

  /// Looks ahead from the record that needs a change to the end of the batch; leaves the columns as they are.
  record::SchemaDelta CollectChanges(const RawBatch& raw, size_t from) {
    ChangeCollector changes(reader_->field_count(), bound().max_columns);
    const int64_t rows = root().length();
    for (size_t i = from; i < raw.size(); ++i) {
      if (IsTombstone(raw, i) || IsTooLong(raw, i)) continue;
      // A record that does not fit any more is a dead letter or the reason of the next delta: when the rest
      // is decoded.
      if (reader_->Read(raw, i) == RowOutcome::kNeedsChange) static_cast<void>(changes.Add(reader_->needs()));
      root().Truncate(rows);
    }
    return changes.Take();
  }

  std::shared_ptr<arrow::RecordBatch> TakeRows() {
    const int64_t rows = root().length();
    std::vector<std::shared_ptr<arrow::ArrayData>> columns;
    for (size_t i = 0; i < root().children().size(); ++i) {
      columns.push_back(root().child(i).Finish(rows, arrow_schema_->field(static_cast<int>(i))->type()));
    }
    root().Truncate(0);
    return arrow::RecordBatch::Make(arrow_schema_, rows, std::move(columns));
  }

  std::unique_ptr<RowReader> reader_;
  std::shared_ptr<arrow::Schema> arrow_schema_;
};

}  // namespace

Result<std::unique_ptr<Decoder>> MakeRowDecoder(std::unique_ptr<RowReader> reader) {
  FIRN_ASSIGN(auto arrow_schema, iceberg::ToArrowSchema(*reader->bound().schema));
  return std::unique_ptr<Decoder>(std::make_unique<RowDecoder>(std::move(reader), std::move(arrow_schema)));
}

}  // namespace firn::decode
