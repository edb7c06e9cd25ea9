// The pipeline file beyond its YAML: keys, column types, partition fields, names, and the checks between
// them. An input is refused with at least one problem, or gives pipelines whose tables can be defined.

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "firn/pipeline/config_reader.h"
#include "firn/pipeline/table_definition.h"

namespace {

using firn::config::Node;
using firn::config::Problems;
namespace pipeline = firn::pipeline;

/// One plug-in of each kind that takes anything.
const pipeline::Plugins& FuzzPlugins() {
  static const pipeline::Plugins plugins = {
      .sources = {{"kafka",
                   [](const pipeline::SourceContext&, const Node&,
                      Problems&) -> std::optional<pipeline::SourceSetup> { return pipeline::SourceSetup{}; },
                   {}}},
      .decoders = {{"json",
                    [](const pipeline::DecoderContext&, const Node&, Problems&)
                        -> std::optional<pipeline::DecoderSetup> { return pipeline::DecoderSetup{}; },
                    {}}},
      .catalogs = {
          {"sql",
           [](const std::string& key, const Node&, Problems&) -> std::optional<pipeline::CatalogSetup> {
             pipeline::CatalogSetup setup;
             setup.key = key;
             return setup;
           },
           {}}}};
  return plugins;
}

void RequireDefinable(const pipeline::TableConfig& table) {
  if (table.columns.empty()) return;
  const auto schema = pipeline::SchemaOfColumns(table.columns, table.format_version);
  if (!schema.ok()) std::abort();
  const auto definition = pipeline::TableDefinition(table, *schema);
  if (!definition.ok() || pipeline::CreateTableStatement(table.name.ToString(), *definition).empty())
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const firn::config::Environment environment = {
      [](const std::string&) { return std::optional<std::string>(); },
      [](const std::string&) -> firn::Result<std::string> { return std::string("text\n"); }};
  const auto file = pipeline::ReadPipelineText(text, "f.yaml", FuzzPlugins(), environment);
  if (!file.ok()) {
    if (file.error().kind() != firn::ErrorKind::kInvalidArgument || file.error().ToString().empty())
      std::abort();
    return 0;
  }
  for (const pipeline::PipelineSetup& setup : file->pipelines) {
    for (const pipeline::TableConfig& table : setup.config.tables) RequireDefinable(table);
  }
  return 0;
}
