#include "firn/decode/avro/tree_oracle.h"

#include <arrow/record_batch.h>

#include <array>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/avro/cursor.h"
#include "firn/decode/avro/avro_decoder.h"
#include "firn/decode/avro/datum_json.h"
#include "firn/decode/avro/infer_avro.h"
#include "firn/decode/avro/writer_schemas.h"
#include "firn/decode/reasons.h"
#include "firn/iceberg/scan/row_json.h"

namespace firn::decode {

namespace {

using Json = nlohmann::json;

struct Case {
  std::string schema;
  bool comparable = true;  ///< values look the same in both: no logical types, no bytes
};

const std::vector<Case>& Cases() {
  const auto record = [](const std::string& fields) {
    return R"({"type":"record","name":"R","fields":[)" + fields + "]}";
  };
  static const std::vector<Case> cases = {
      {record(
          R"({"name":"a","type":"int"},{"name":"b","type":["null","string"]},{"name":"c","type":"boolean"})")},
      {record(R"({"name":"a","type":{"type":"array","items":["null","long"]}},)"
              R"({"name":"m","type":{"type":"map","values":{"type":"array","items":"string"}}})")},
      {record(
          R"({"name":"n","type":["null",{"type":"record","name":"N","fields":[{"name":"x","type":"long"},)"
          R"({"name":"l","type":{"type":"array","items":{"type":"record","name":"L","fields":[)"
          R"({"name":"y","type":["int","null"]},{"name":"z","type":{"type":"enum","name":"E","symbols":)"
          R"(["P","Q"]}}]}}}]}]})")},
      {record(R"({"name":"u","type":["null","long","string",{"type":"array","items":"int"}]},)"
              R"({"name":"t","type":{"type":"array","items":"null"}})"),
       false},
      {record(
           R"({"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},)"
           R"({"name":"f","type":{"type":"fixed","name":"F","size":5,"logicalType":"decimal","precision":11,"scale":0}},)"
           R"({"name":"x","type":{"type":"int","logicalType":"date"}},)"
           R"({"name":"y","type":{"type":"long","logicalType":"timestamp-millis"}},)"
           R"({"name":"z","type":{"type":"int","logicalType":"time-millis"}})"),
       false},
      {record(R"({"name":"f","type":"float"},{"name":"g","type":"double"},{"name":"b","type":"bytes"},)"
              R"({"name":"i","type":{"type":"string","logicalType":"uuid"}})"),
       false},
  };
  return cases;
}

/// Columns as the schema has them, or only some of them, or none: the others are ignored.
iceberg::SchemaPtr ColumnsFor(const iceberg::SchemaPtr& all, int choice) {
  std::vector<iceberg::NestedField> fields = all->fields();
  if (choice == 1 && fields.size() > 1) fields.erase(fields.begin());
  if (choice == 2) fields.resize(1);
  return std::make_shared<const iceberg::Schema>(0, std::move(fields));
}

record::RawBatch OneRecord(std::string_view datum) {
  record::RawBatch raw;
  raw.partition = {"t", 0};
  raw.range.to = 1;
  raw.offsets = {0};
  raw.timestamps_ms = {0};
  raw.keys = {{}};
  raw.values = {{raw.arena.Append(datum), static_cast<uint32_t>(datum.size())}};
  return raw;
}

std::string Compare(const std::string& tree, const DecodeResult& result, const iceberg::Schema& columns,
                    bool comparable) {
  if (!result.batch.rows->ValidateFull().ok()) return "the rows are no valid Arrow data";
  if (!comparable) return {};
  const auto rows = iceberg::RowsToJson(*result.batch.rows, columns);
  if (!rows.ok() || rows->size() != 1) return "the row cannot be shown";
  const Json expected = Json::parse(tree, nullptr, false);
  for (const auto& [name, value] : (*rows)[0].items()) {
    if (Json(value) != expected[name])
      return fmt::format("column {}: {} in the row, {} in the tree", name, value.dump(),
                         expected[name].dump());
  }
  return {};
}

}  // namespace

std::string DifferenceFromTree(std::string_view input) {
  if (input.empty()) return {};
  const auto choice = static_cast<uint8_t>(input[0]);
  const Case& chosen = Cases()[choice % Cases().size()];
  const std::string_view datum = input.substr(1);
  std::shared_ptr<WriterSchemas> schemas = std::move(MakeFixedSchema(chosen.schema)).value();
  const auto inferred = InferAvroSchema({}, schemas);
  BoundSchema bound;
  bound.schema = ColumnsFor(inferred->schema, choice / 64);
  auto decoder = MakeAvroDecoder(bound, schemas);
  const auto result = (*decoder)->Decode(OneRecord(datum), 0);
  if (!result.ok()) return "an error in the place of a dead letter: " + result.error().ToString();
  avro::Cursor cursor(datum);
  std::string tree;
  const bool whole =
      WriteDatumJson((*schemas->Find(0))->schema->root(), &cursor, &tree) && cursor.remaining() == 0;
  if (result->dead_letters.empty()) {
    // Nulls without a column may be more than the walk writes out.
    if (!whole && cursor.Explain().find("without content") != std::string::npos) return {};
    if (!whole) return "a row of a datum that the tree refuses: " + cursor.Explain();
    return Compare(tree, *result, *bound.schema, chosen.comparable);
  }
  if (result->batch.rows != nullptr) return "both a row and a dead letter";
  const record::DeadLetter& letter = result->dead_letters[0];
  if (whole && letter.reason == reason::kMalformedAvro)
    return fmt::format("the tree takes {}, the decoder says {}", tree, letter.message);
  return {};
}

}  // namespace firn::decode
