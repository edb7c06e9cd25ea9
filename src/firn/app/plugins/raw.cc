#include "firn/decode/raw/raw_decoder.h"

#include <memory>
#include <string>
#include <vector>

#include "firn/app/plugins/plugins.h"
#include "firn/config/schema.h"

namespace firn::app {

namespace {

struct RawKeys {
  std::string format = "raw";
  bool key_is_text = false;
  bool value_is_text = false;
};

const config::Schema<RawKeys>& RawSchemaOfKeys() {
  static const auto schema =
      config::Schema<RawKeys>()
          .Field("format", &RawKeys::format, config::Text(), "`raw`: keys and values as they are.")
          .Field("key_type", &RawKeys::key_is_text,
                 config::Choice<bool>({{"binary", false}, {"string", true}}),
                 "Type of the column `key` of a table that is made without declared columns.")
          .Field("value_type", &RawKeys::value_is_text,
                 config::Choice<bool>({{"binary", false}, {"string", true}}),
                 "The same of the column `value`.");
  return schema;
}

/// The schema for keys beside another format's values: one column.
decode::InferredSchema KeySchemaOf(const std::string& column, bool is_text) {
  iceberg::NestedField field;
  field.id = 1;
  field.name = column;
  field.type = iceberg::Type::Primitive(is_text ? iceberg::TypeId::kString : iceberg::TypeId::kBinary);
  decode::InferredSchema inferred;
  inferred.schema = std::make_shared<const iceberg::Schema>(0, std::vector<iceberg::NestedField>{field});
  return inferred;
}

}  // namespace

pipeline::DecoderPlugin Raw(const PluginDeps& /*deps*/) {
  const auto parse = [](const pipeline::DecoderContext& context, const config::Node& node,
                        config::Problems& problems) -> std::optional<pipeline::DecoderSetup> {
    RawKeys keys;
    if (!RawSchemaOfKeys().Read(node, problems, &keys)) return std::nullopt;
    pipeline::DecoderSetup setup;
    setup.format = "raw";
    setup.make = decode::MakeRawDecoder;
    setup.infer = [keys, column = context.key_column](
                      const std::vector<record::RawBatch>&) -> Result<decode::InferredSchema> {
      if (!column.empty()) return KeySchemaOf(column, keys.value_is_text);
      return decode::RawSchema({keys.key_is_text, keys.value_is_text});
    };
    return setup;
  };
  const auto describe = [](const std::string& path, std::vector<config::FieldDoc>* out) {
    RawSchemaOfKeys().Describe(path, out);
  };
  return {"raw", parse, describe};
}

}  // namespace firn::app
