#include "firn/app/plugins/plugins.h"

#include <string>
#include <vector>

#include "firn/config/schema.h"
#include "firn/decode/parquet/parquet_decoder.h"
#include "firn/decode/parquet/parquet_format.h"

namespace firn::app {

namespace {

struct ParquetKeys {
  std::string format = "parquet";
  decode::ParquetMatch match = decode::ParquetMatch::kName;
};

const config::Schema<ParquetKeys>& ParquetSchema() {
  static const auto schema =
      config::Schema<ParquetKeys>()
          .Field("format", &ParquetKeys::format, config::Text(), "`parquet`: each row of a file is a record.")
          .Field(
              "match", &ParquetKeys::match,
              config::Choice<decode::ParquetMatch>(
                  {{"name", decode::ParquetMatch::kName}, {"id", decode::ParquetMatch::kId}}),
              "How columns of a file find those of the table: by name, or by field id where the file has ids "
              "(else by name).");
  return schema;
}

}  // namespace

pipeline::DecoderPlugin Parquet(const PluginDeps& /*deps*/) {
  const auto parse = [](const pipeline::DecoderContext& context, const config::Node& node,
                        config::Problems& problems) -> std::optional<pipeline::DecoderSetup> {
    ParquetKeys keys;
    if (!ParquetSchema().Read(node, problems, &keys)) return std::nullopt;
    if (context.source == "kafka" || !context.key_column.empty()) {
      problems.Add(context.decode,
                   "format parquet is for files, and a Kafka message is none; choose the format that the "
                   "producers write");
      return std::nullopt;
    }
    pipeline::DecoderSetup setup;
    setup.format = "parquet";
    setup.make = [match = keys.match](const decode::BoundSchema& bound) {
      return decode::MakeParquetDecoder(match, bound);
    };
    setup.infer = decode::InferParquetSchema;
    setup.files = decode::MakeParquetFormat();
    return setup;
  };
  const auto describe = [](const std::string& path, std::vector<config::FieldDoc>* out) {
    ParquetSchema().Describe(path, out);
  };
  return {"parquet", parse, describe};
}

}  // namespace firn::app
