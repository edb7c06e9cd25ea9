#include "firn/write/dead_letter_rows.h"

#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/table_builder.h>

#include <functional>
#include <map>
#include <utility>

#include "firn/iceberg/scan/arrow_schema.h"

namespace firn::write {

namespace {

using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;
using iceberg::TypePtr;
using record::DeadLetter;

constexpr int64_t kMicrosPerMs = 1000;

NestedField Field(int32_t id, std::string name, bool required, TypePtr type, std::string doc) {
  NestedField field;
  field.id = id;
  field.name = std::move(name);
  field.required = required;
  field.type = std::move(type);
  field.doc = std::move(doc);
  return field;
}

TypePtr HeadersType() {
  return Type::List(14, true,
                    Type::Struct({Field(15, "name", true, Type::Primitive(TypeId::kString), ""),
                                  Field(16, "value", false, Type::Primitive(TypeId::kBinary), "")}));
}

/// What the columns of one letter are made of.
struct Row {
  const DeadLetter& letter;
  const std::string& pipeline_id;
  int64_t arrival_ms;
  bool keep_payload;
};

using Append = std::function<arrow::Status(arrow::ArrayBuilder*, const Row&)>;

arrow::Status AppendText(arrow::ArrayBuilder* builder, const std::string& text) {
  return static_cast<arrow::StringBuilder*>(builder)->Append(text);
}

arrow::Status AppendInstant(arrow::ArrayBuilder* builder, int64_t ms) {
  return static_cast<arrow::TimestampBuilder*>(builder)->Append(ms * kMicrosPerMs);
}

arrow::Status AppendBytes(arrow::ArrayBuilder* builder, const std::optional<std::string>& bytes, bool keep) {
  auto* binary = static_cast<arrow::BinaryBuilder*>(builder);
  return keep && bytes ? binary->Append(*bytes) : binary->AppendNull();
}

arrow::Status AppendHeaders(arrow::ArrayBuilder* builder, const Row& row) {
  auto* list = static_cast<arrow::ListBuilder*>(builder);
  ARROW_RETURN_NOT_OK(list->Append());
  auto* entry = static_cast<arrow::StructBuilder*>(list->value_builder());
  for (const auto& [name, value] : row.letter.headers) {
    ARROW_RETURN_NOT_OK(entry->Append());
    ARROW_RETURN_NOT_OK(AppendText(entry->field_builder(0), name));
    ARROW_RETURN_NOT_OK(AppendBytes(entry->field_builder(1), value, row.keep_payload));
  }
  return arrow::Status::OK();
}

const std::map<std::string, Append, std::less<>>& Appenders() {
  static const auto* appenders = new std::map<std::string, Append, std::less<>>{
      {"pipeline", [](auto* b, const Row& r) { return AppendText(b, r.pipeline_id); }},
      {"topic", [](auto* b, const Row& r) { return AppendText(b, r.letter.partition.topic); }},
      {"partition",
       [](auto* b, const Row& r) {
         return static_cast<arrow::Int32Builder*>(b)->Append(r.letter.partition.partition);
       }},
      {"offset",
       [](auto* b, const Row& r) { return static_cast<arrow::Int64Builder*>(b)->Append(r.letter.offset); }},
      {"source_time", [](auto* b, const Row& r) { return AppendInstant(b, r.letter.timestamp_ms); }},
      {"arrival_time", [](auto* b, const Row& r) { return AppendInstant(b, r.arrival_ms); }},
      {"target_table", [](auto* b, const Row& r) { return AppendText(b, r.letter.target_table); }},
      {"key", [](auto* b, const Row& r) { return AppendBytes(b, r.letter.key, r.keep_payload); }},
      {"value", [](auto* b, const Row& r) { return AppendBytes(b, r.letter.value, r.keep_payload); }},
      {"headers", AppendHeaders},
      {"stage", [](auto* b, const Row& r) { return AppendText(b, r.letter.stage); }},
      {"reason", [](auto* b, const Row& r) { return AppendText(b, r.letter.reason); }},
      {"message", [](auto* b, const Row& r) { return AppendText(b, r.letter.message); }},
      {"file",
       [](auto* b, const Row& r) {
         return r.letter.file.empty() ? b->AppendNull() : AppendText(b, r.letter.file);
       }},
      {"line",
       [](auto* b, const Row& r) {
         return r.letter.file.empty() ? b->AppendNull()
                                      : static_cast<arrow::Int64Builder*>(b)->Append(r.letter.line);
       }},
  };
  return *appenders;
}

Error FromArrow(const arrow::Status& status) {
  const ErrorKind kind = status.IsOutOfMemory() ? ErrorKind::kResourceExhausted : ErrorKind::kInternal;
  return {kind, "dead letters: " + status.message()};
}

arrow::Status AppendRows(arrow::RecordBatchBuilder& builder, std::span<const DeadLetter* const> letters,
                         const std::string& pipeline_id, int64_t arrival_ms, bool keep_payload) {
  for (int column = 0; column < builder.num_fields(); ++column) {
    auto appender = Appenders().find(builder.schema()->field(column)->name());
    for (const DeadLetter* letter : letters) {
      arrow::ArrayBuilder* field = builder.GetField(column);
      if (appender == Appenders().end()) {
        ARROW_RETURN_NOT_OK(field->AppendNull());
      } else {
        ARROW_RETURN_NOT_OK(appender->second(field, Row{*letter, pipeline_id, arrival_ms, keep_payload}));
      }
    }
  }
  return arrow::Status::OK();
}

}  // namespace

iceberg::SchemaPtr DeadLetterSchema() {
  const auto text = [] { return Type::Primitive(TypeId::kString); };
  const auto instant = [] { return Type::Primitive(TypeId::kTimestampTz); };
  const auto bytes = [] { return Type::Primitive(TypeId::kBinary); };
  return std::make_shared<iceberg::Schema>(
      0, std::vector<NestedField>{
             Field(1, "pipeline", false, text(), "id of the pipeline"),
             Field(2, "topic", false, text(), "source topic"),
             Field(3, "partition", false, Type::Primitive(TypeId::kInt), "source partition"),
             Field(4, "offset", false, Type::Primitive(TypeId::kLong), "source offset"),
             Field(5, "source_time", false, instant(), "timestamp of the record at the source"),
             Field(6, "arrival_time", false, instant(), "when the record was set aside"),
             Field(7, "target_table", false, text(), "table the record was meant for"),
             Field(8, "key", false, bytes(), "original key"),
             Field(9, "value", false, bytes(), "original value; null for a tombstone or without payload"),
             Field(10, "headers", false, HeadersType(), "original headers"),
             Field(11, "stage", false, text(), "stage that refused it"),
             Field(12, "reason", false, text(), "stable reason code"),
             Field(13, "message", false, text(), "what was wrong and where"),
             Field(17, "file", false, text(), "file that holds the record, where the source reads files"),
             Field(18, "line", false, Type::Primitive(TypeId::kLong), "its line or row in the file, from 1"),
         });
}

Status CheckLetterColumns(const iceberg::Schema& table_schema) {
  const iceberg::SchemaPtr own = DeadLetterSchema();
  for (const NestedField& field : own->fields()) {
    const NestedField* column = table_schema.as_struct()->FindField(field.name);
    if (column != nullptr && column->type->id() != field.type->id()) {
      return Error(ErrorKind::kInvalidArgument, "column " + field.name + " of the dead-letter table is " +
                                                    column->type->ToString() + ", not " +
                                                    field.type->ToString())
          .WithRemedy("Name another table under dead_letters.table.");
    }
  }
  return Ok();
}

Result<record::Batch> DeadLetterRows(std::span<const DeadLetter* const> letters,
                                     const std::string& pipeline_id, int64_t arrival_ms, bool keep_payload,
                                     const iceberg::Schema& table_schema, arrow::MemoryPool* pool) {
  FIRN_TRY(CheckLetterColumns(table_schema));
  FIRN_ASSIGN(auto schema, iceberg::ToArrowSchema(table_schema));
  auto builder =
      arrow::RecordBatchBuilder::Make(schema, pool == nullptr ? arrow::default_memory_pool() : pool);
  if (!builder.ok()) return FromArrow(builder.status());
  if (auto status = AppendRows(**builder, letters, pipeline_id, arrival_ms, keep_payload); !status.ok())
    return FromArrow(status);
  auto rows = (*builder)->Flush();
  if (!rows.ok()) return FromArrow(rows.status());
  return record::Batch{.rows = *rows, .schema_id = table_schema.schema_id()};
}

}  // namespace firn::write
