#include "firn/write/dead_letter_reader.h"

#include <arrow/api.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/iceberg/scan/table_scan.h"
#include "firn/write/dead_letter_rows.h"

namespace firn::write {

namespace {

constexpr int64_t kMicrosPerMs = 1000;
constexpr int64_t kBatchRows = 1024;  // values may be large

bool IsPayload(std::string_view column) {
  return column == "key" || column == "value" || column == "headers";
}

/// The columns of one batch by name; what is not there is null.
class LetterColumns {
 public:
  explicit LetterColumns(const arrow::RecordBatch& rows) : rows_(rows) {}

  StoredLetter At(int64_t row) const {
    StoredLetter stored;
    record::DeadLetter& letter = stored.letter;
    stored.pipeline = Text("pipeline", row);
    stored.arrival_ms = Instant("arrival_time", row);
    letter.partition = {Text("topic", row),
                        static_cast<int32_t>(Number<arrow::Int32Array>("partition", row))};
    letter.offset = Number<arrow::Int64Array>("offset", row);
    letter.timestamp_ms = Instant("source_time", row);
    letter.target_table = Text("target_table", row);
    letter.key = Bytes("key", row);
    letter.value = Bytes("value", row);
    letter.headers = Headers(row);
    letter.stage = Text("stage", row);
    letter.reason = Text("reason", row);
    letter.message = Text("message", row);
    letter.file = Text("file", row);
    letter.line = Number<arrow::Int64Array>("line", row);
    return stored;
  }

 private:
  const arrow::Array* Find(const char* name, int64_t row) const {
    const int index = rows_.schema()->GetFieldIndex(name);
    if (index < 0) return nullptr;
    const arrow::Array* column = rows_.column(index).get();
    return column->IsNull(row) ? nullptr : column;
  }
  std::string Text(const char* name, int64_t row) const {
    const auto* column = static_cast<const arrow::StringArray*>(Find(name, row));
    return column == nullptr ? std::string() : column->GetString(row);
  }
  template <typename Array>
  int64_t Number(const char* name, int64_t row) const {
    const auto* column = static_cast<const Array*>(Find(name, row));
    return column == nullptr ? 0 : static_cast<int64_t>(column->Value(row));
  }
  int64_t Instant(const char* name, int64_t row) const {
    return Number<arrow::TimestampArray>(name, row) / kMicrosPerMs;
  }
  std::optional<std::string> Bytes(const char* name, int64_t row) const {
    const auto* column = static_cast<const arrow::BinaryArray*>(Find(name, row));
    return column == nullptr ? std::nullopt : std::optional(column->GetString(row));
  }
  std::vector<std::pair<std::string, std::optional<std::string>>> Headers(int64_t row) const {
    std::vector<std::pair<std::string, std::optional<std::string>>> headers;
    const auto* lists = static_cast<const arrow::ListArray*>(Find("headers", row));
    if (lists == nullptr) return headers;
    const auto& entries = static_cast<const arrow::StructArray&>(*lists->values());
    const auto names = std::static_pointer_cast<arrow::StringArray>(entries.GetFieldByName("name"));
    const auto values = std::static_pointer_cast<arrow::BinaryArray>(entries.GetFieldByName("value"));
    for (int64_t i = lists->value_offset(row); i < lists->value_offset(row + 1); ++i) {
      headers.emplace_back(names->GetString(i),
                           values->IsNull(i) ? std::nullopt : std::optional(values->GetString(i)));
    }
    return headers;
  }

  const arrow::RecordBatch& rows_;
};

}  // namespace

bool StoredLetter::is_mark() const {
  return letter.stage == kReplayStage && letter.reason == kReplayedReason;
}

Status ReadLetters(const std::shared_ptr<const iceberg::TableMetadata>& table,
                   const std::shared_ptr<store::Store>& store, const LetterScan& scan,
                   const std::function<Status(StoredLetter)>& take) {
  FIRN_TRY(CheckLetterColumns(*table->schema()));
  iceberg::ScanOptions options;
  options.batch_rows = kBatchRows;
  options.snapshot_id = scan.snapshot_id;
  const iceberg::SchemaPtr own = DeadLetterSchema();
  for (const iceberg::NestedField& field : own->fields()) {
    const bool wanted = scan.payload || !IsPayload(field.name);
    if (wanted && table->schema()->as_struct()->FindField(field.name) != nullptr)
      options.columns.push_back(field.name);
  }
  FIRN_ASSIGN(const auto made, iceberg::TableScan::Make(table, store, options));
  FIRN_ASSIGN(const auto rows, made.Read());
  for (;;) {
    FIRN_ASSIGN(const auto batch, rows->Next());
    if (batch == nullptr) return Ok();
    const LetterColumns columns(*batch);
    for (int64_t row = 0; row < batch->num_rows(); ++row) FIRN_TRY(take(columns.At(row)));
  }
}

}  // namespace firn::write
