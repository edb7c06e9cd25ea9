#include "firn/app/plugins/plugins.h"

#include <string>
#include <vector>

#include "firn/config/schema.h"
#include "firn/decode/json/infer_schema.h"
#include "firn/decode/json/json_decoder.h"
#include "firn/decode/json/json_files.h"
#include "firn/decode/json/json_key_reader.h"

namespace firn::app {

namespace {

/// JSON has no keys of its own beside `format`.
struct JsonKeys {
  std::string format = "json";
};

const config::Schema<JsonKeys>& JsonSchema() {
  static const auto schema = config::Schema<JsonKeys>().Field("format", &JsonKeys::format, config::Text(),
                                                              "`json`: each value is one object.");
  return schema;
}

}  // namespace

pipeline::DecoderPlugin Json(const PluginDeps& /*deps*/) {
  const auto parse = [](const pipeline::DecoderContext& context, const config::Node& node,
                        config::Problems& problems) -> std::optional<pipeline::DecoderSetup> {
    JsonKeys keys;
    if (!JsonSchema().Read(node, problems, &keys)) return std::nullopt;
    pipeline::DecoderSetup setup{.format = "json",
                                 .make = decode::MakeJsonDecoder,
                                 .infer = decode::InferJsonSchema,
                                 .files = decode::MakeJsonFiles(),
                                 .make_key_reader = decode::MakeJsonKeyReader};
    if (!context.key_column.empty()) {
      setup.infer = [column = context.key_column](const std::vector<record::RawBatch>& sample) {
        return decode::InferJsonKeySchema(column, sample);
      };
    }
    return setup;
  };
  const auto describe = [](const std::string& path, std::vector<config::FieldDoc>* out) {
    JsonSchema().Describe(path, out);
  };
  return {"json", parse, describe};
}

}  // namespace firn::app
