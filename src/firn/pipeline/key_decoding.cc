#include "firn/pipeline/key_decoding.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "firn/decode/inferred_type.h"
#include "firn/decode/kafka_columns.h"
#include "firn/decode/keyed_decoder.h"

namespace firn::pipeline {

namespace {

using config::Node;

/// The keys of a sample as the values of batches.
std::vector<record::RawBatch> KeysOf(const std::vector<record::RawBatch>& sample) {
  std::vector<record::RawBatch> keys;
  for (const record::RawBatch& raw : sample) {
    record::RawBatch& batch = keys.emplace_back();
    batch.partition = raw.partition;
    batch.offsets = raw.offsets;
    batch.timestamps_ms = raw.timestamps_ms;
    batch.keys.resize(raw.size());
    for (size_t i = 0; i < raw.size(); ++i) {
      record::Slice slice = raw.keys[i];
      if (!slice.is_null()) slice.begin = batch.arena.Append(raw.key(i));
      batch.values.push_back(slice);
    }
  }
  return keys;
}

bool HoldsKeys(const std::vector<record::RawBatch>& keys) {
  return std::ranges::any_of(keys, [](const record::RawBatch& raw) {
    return std::ranges::any_of(raw.values, [](record::Slice slice) { return !slice.is_null(); });
  });
}

/// Columns of the value, then those of the key that it does not have.
Result<decode::InferredSchema> JoinSchemas(const KeyFields& names, const decode::InferredSchema& key,
                                           decode::InferredSchema value) {
  std::vector<iceberg::NestedField> fields = value.schema->fields();
  for (iceberg::NestedField field : key.schema->fields()) {
    if (field.name != names.column) field.name.insert(0, names.prefix);
    const auto taken = std::ranges::find_if(fields, [&](const iceberg::NestedField& other) {
      return decode::EqualsIgnoringCase(other.name, field.name);
    });
    if (taken == fields.end()) {
      fields.push_back(std::move(field));
    } else {
      value.notes.push_back(fmt::format(
          "field '{}': in keys and values; the column takes the value's, and the key's where that is null "
          "(decode.key.prefix: keeps them apart)",
          field.name));
    }
  }
  for (const std::string& note : key.notes) value.notes.push_back("key: " + note);
  int32_t next_id = 1;
  value.schema = iceberg::AssignFreshIds(iceberg::Schema(0, std::move(fields)), next_id);
  return value;
}

bool IsKeyField(std::string_view key) { return key == "column" || key == "prefix"; }

Node Filter(const Node& node, bool (*drop)(std::string_view key)) {
  auto tree = std::make_shared<Node::Tree>(node.tree());
  std::erase_if(tree->members, [drop](const Node::Tree::Member& member) { return drop(member.key); });
  return {std::move(tree), node.path()};
}

}  // namespace

const config::Schema<KeyFields>& KeySchema() {
  static const auto schema =
      config::Schema<KeyFields>()
          .Field("column", &KeyFields::column, config::Text(),
                 "Column of keys that are one plain value rather than a record of fields.")
          .Field("prefix", &KeyFields::prefix, config::Text({.allow_empty = true}),
                 "Put before the names of a key's fields, to keep them apart from the value's.", "none");
  return schema;
}

Node OnlyKeyFields(const Node& node) {
  return Filter(node, [](std::string_view key) { return !IsKeyField(key); });
}

Node WithoutKeyFields(const Node& node) { return Filter(node, IsKeyField); }

DecoderSetup JoinKeyAndValue(const KeyFields& fields, const DecoderSetup& key, DecoderSetup value) {
  const decode::KeyedFormat format{key.make, value.make, fields.column, fields.prefix};
  value.make = [format](const decode::BoundSchema& bound) { return decode::MakeKeyedDecoder(format, bound); };
  value.infer = [fields, of_key = key.infer, of_value = value.infer](
                    const std::vector<record::RawBatch>& sample) -> Result<decode::InferredSchema> {
    FIRN_ASSIGN(decode::InferredSchema from_value, of_value(sample));
    const std::vector<record::RawBatch> keys = KeysOf(sample);
    if (!HoldsKeys(keys)) return from_value;
    FIRN_ASSIGN_CTX(const decode::InferredSchema from_key, of_key(keys), "keys of the records");
    return JoinSchemas(fields, from_key, std::move(from_value));
  };
  return value;
}

DecoderSetup WithKafkaColumns(DecoderSetup setup) {
  setup.make = [make = std::move(setup.make)](
                   const decode::BoundSchema& bound) -> Result<std::unique_ptr<decode::Decoder>> {
    FIRN_ASSIGN(std::unique_ptr<decode::Decoder> decoder, make(bound));
    if (!bound.kafka_columns) return decoder;
    return decode::AddKafkaColumns(std::move(decoder), bound);
  };
  return setup;
}

}  // namespace firn::pipeline
