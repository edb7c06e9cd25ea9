#include "firn/decode/json/dom_oracle.h"

#include <arrow/record_batch.h>
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "firn/decode/json/infer_schema.h"
#include "firn/decode/json/json_decoder.h"
#include "firn/decode/number.h"
#include "firn/decode/reasons.h"

namespace firn::decode {

namespace {

using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;

bool IsNumberByte(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/// Replaces [begin, end) by a zero and spaces when it is a number.
void Neutralise(std::string& text, size_t begin, size_t end) {
  const std::string run = text.substr(begin, end - begin);
  NumberText number;
  const auto* bytes = reinterpret_cast<const uint8_t*>(run.c_str());
  if (!ScanNumber(bytes, &number) || number.end != bytes + run.size()) return;
  std::fill(text.begin() + static_cast<ptrdiff_t>(begin), text.begin() + static_cast<ptrdiff_t>(end), ' ');
  text[begin] = '0';
}

std::string WithoutNumbers(std::string_view original) {
  std::string text(original);
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && IsNumberByte(text[i])) {
      size_t end = i;
      while (end < text.size() && IsNumberByte(text[end])) ++end;
      Neutralise(text, i, end);
      i = end - 1;
    }
  }
  return text;
}

NestedField Column(int32_t id, std::string name, iceberg::TypePtr type) {
  NestedField field;
  field.id = id;
  field.name = std::move(name);
  field.type = std::move(type);
  return field;
}

iceberg::SchemaPtr Schema() {
  const auto of = [](TypeId id) { return Type::Primitive(id); };
  const auto point =
      Type::Struct({Column(11, "x", of(TypeId::kDouble)), Column(12, "y", of(TypeId::kDouble))});
  return std::make_shared<const iceberg::Schema>(
      0, std::vector<NestedField>{
             Column(1, "i", of(TypeId::kInt)), Column(2, "l", of(TypeId::kLong)),
             Column(3, "s", of(TypeId::kString)), Column(4, "b", of(TypeId::kBoolean)),
             Column(5, "d", of(TypeId::kDouble)), Column(6, "t", of(TypeId::kTimestamp)),
             Column(7, "c", Type::Decimal(9, 2)), Column(8, "p", point),
             Column(9, "a", Type::List(13, false, of(TypeId::kLong))),
             Column(10, "m", Type::Map(14, of(TypeId::kString), 15, false, of(TypeId::kString)))});
}

Decoder& PlainDecoder() {
  static const std::unique_ptr<Decoder> decoder = [] {
    BoundSchema bound;
    bound.schema = Schema();
    return std::move(MakeJsonDecoder(bound)).value();
  }();
  return *decoder;
}

/// Unknown fields are typed instead of skipped, and what cannot become a column is rescued.
Decoder& EvolvingDecoder() {
  static const std::unique_ptr<Decoder> decoder = [] {
    std::vector<NestedField> fields = Schema()->fields();
    fields.push_back(Column(16, std::string(kRescuedColumn), Type::Primitive(TypeId::kString)));
    BoundSchema bound;
    bound.schema = std::make_shared<const iceberg::Schema>(0, std::move(fields));
    bound.evolution = Evolution::kAddAndWiden;
    bound.unknown_fields = UnknownFields::kRescue;
    bound.max_columns = 20;
    return std::move(MakeJsonDecoder(bound)).value();
  }();
  return *decoder;
}

record::RawBatch Batch(std::string_view text) {
  record::RawBatch raw;
  raw.partition = {"t", 0};
  // Good records on both sides show whether the one between leaves something behind; what follows in the
  // arena must not matter.
  const std::string good = R"({"i":1,"s":"one","a":[1],"p":{"x":1},"m":{"k":"v"}})";
  for (const std::string_view value : {std::string_view(good), text, std::string_view(good)}) {
    raw.offsets.push_back(static_cast<int64_t>(raw.offsets.size()));
    raw.timestamps_ms.push_back(0);
    raw.keys.push_back({});
    raw.values.push_back({raw.arena.Append(value), static_cast<uint32_t>(value.size())});
  }
  return raw;
}

bool IsMalformed(std::string_view code) {
  return code == reason::kMalformedJson || code == reason::kInvalidUtf8 || code == reason::kEmptyValue;
}

}  // namespace

DomVerdict AskDom(std::string_view text) {
  const simdjson::padded_string padded(WithoutNumbers(text));
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  if (parser.parse(padded).get(element) != simdjson::SUCCESS) return DomVerdict::kRejected;
  return element.is_object() ? DomVerdict::kObject : DomVerdict::kOther;
}

namespace {

/// The middle record's reason code; empty for a row. Or, in `difference`, what is wrong beside it.
std::string Judge(const DecodeResult& result, std::string* difference) {
  if (result.consumed != 3 || result.batch.rows == nullptr) {
    *difference = "the good records beside it were lost";
    return {};
  }
  const arrow::RecordBatch& rows = *result.batch.rows;
  const size_t letters = result.dead_letters.size();
  const int64_t last = rows.num_rows() - 1;
  if (const auto valid = rows.ValidateFull(); !valid.ok()) {
    *difference = valid.ToString();
  } else if (static_cast<size_t>(rows.num_rows()) + letters != 3 || letters > 1) {
    *difference = "rows and dead letters do not add up";
  } else if (!rows.Slice(0, 1)->Equals(*rows.Slice(last, 1))) {
    *difference = "it changed its neighbours";
  }
  return letters == 0 ? "" : result.dead_letters[0].reason;
}

std::string Compare(std::string_view code, DomVerdict verdict) {
  if (IsMalformed(code) != (verdict == DomVerdict::kRejected)) {
    return fmt::format("decoder: {}, DOM: {}", code.empty() ? "a row" : code,
                       verdict == DomVerdict::kRejected ? "rejected" : "accepted");
  }
  if ((code == reason::kNotAnObject) != (verdict == DomVerdict::kOther)) {
    return fmt::format("decoder: {}, DOM has another top", code);
  }
  return {};
}

std::string ComparePlain(const record::RawBatch& raw, DomVerdict verdict) {
  const auto result = PlainDecoder().Decode(raw, 0);
  if (!result.ok()) return result.error().ToString();
  std::string difference;
  const std::string code = Judge(*result, &difference);
  return difference.empty() ? Compare(code, verdict) : difference;
}

std::string CompareEvolving(const record::RawBatch& raw, DomVerdict verdict) {
  const auto result = EvolvingDecoder().Decode(raw, 0);
  if (!result.ok()) return result.error().ToString();
  if (result->delta.has_value()) {
    if (result->consumed != 1 || result->delta->empty()) return "a cut at the wrong place, or for nothing";
    return verdict == DomVerdict::kObject ? "" : "a schema change for what DOM does not take for an object";
  }
  std::string difference;
  const std::string code = Judge(*result, &difference);
  return difference.empty() ? Compare(code, verdict) : difference;
}

}  // namespace

std::string DifferenceFromDom(std::string_view text) {
  const DomVerdict verdict = AskDom(text);
  std::vector<record::RawBatch> sample;
  sample.push_back(Batch(text));
  if (std::string plain = ComparePlain(sample[0], verdict); !plain.empty()) return plain;
  if (const std::string evolving = CompareEvolving(sample[0], verdict); !evolving.empty())
    return "evolving: " + evolving;
  const auto inferred = InferJsonSchema(sample);
  const bool is_object = verdict == DomVerdict::kObject;
  if (inferred.ok() && inferred->records != (is_object ? 3 : 2))
    return "inference took it for something else";
  return {};
}

}  // namespace firn::decode
