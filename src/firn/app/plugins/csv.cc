#include "firn/app/plugins/plugins.h"

#include <string>
#include <vector>

#include "firn/decode/csv/config.h"
#include "firn/decode/csv/csv_decoder.h"
#include "firn/decode/csv/csv_format.h"
#include "firn/decode/csv/csv_key_reader.h"

namespace firn::app {

pipeline::DecoderPlugin Csv(const PluginDeps& /*deps*/) {
  const auto parse = [](const pipeline::DecoderContext& context, const config::Node& node,
                        config::Problems& problems) -> std::optional<pipeline::DecoderSetup> {
    decode::CsvDialect dialect;
    if (!decode::ReadCsvConfig(node, problems, &dialect)) return std::nullopt;
    // A key without names for its fields is one plain value.
    if (!context.key_column.empty() && dialect.columns.empty() && !dialect.has_header(/*in_file=*/false))
      dialect.columns = {context.key_column};
    pipeline::DecoderSetup setup;
    setup.format = "csv";
    setup.make = [dialect](const decode::BoundSchema& bound) {
      return decode::MakeCsvDecoder(dialect, bound);
    };
    setup.infer = [dialect](const std::vector<record::RawBatch>& sample) {
      return decode::InferCsvSchema(dialect, sample);
    };
    setup.files = decode::MakeCsvFormat(dialect);
    if (!dialect.columns.empty() || dialect.has_header(/*in_file=*/context.source == "files")) {
      setup.make_key_reader = [dialect](const std::vector<std::string>& names) {
        return decode::MakeCsvKeyReader(dialect, names);
      };
    }
    return setup;
  };
  return {"csv", parse, decode::DescribeCsvConfig};
}

}  // namespace firn::app
