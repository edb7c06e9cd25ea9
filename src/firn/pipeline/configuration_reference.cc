#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "firn/config/reference.h"
#include "firn/pipeline/config_reader.h"
#include "firn/pipeline/key_decoding.h"
#include "firn/pipeline/pipeline_schema.h"

namespace firn::pipeline {

namespace {

std::string Section(std::string_view title, std::string_view text,
                    const std::vector<config::FieldDoc>& fields, const std::string& prefix) {
  return fmt::format("\n## {}\n\n{}\n\n{}", title, text, config::RenderReferenceTable(fields, prefix));
}

template <typename Plugin>
std::string PluginSections(const std::vector<Plugin>& plugins, std::string_view title, std::string_view text,
                           const std::string& path) {
  std::string out;
  for (const Plugin& plugin : plugins) {
    std::vector<config::FieldDoc> fields;
    if (plugin.describe) plugin.describe(path, &fields);
    out += Section(fmt::format("{}: {}", title, plugin.name), fmt::format(fmt::runtime(text), plugin.name),
                   fields, path);
  }
  return out;
}

}  // namespace

std::string ConfigurationReference(const Plugins& plugins) {
  const config::Schema<PipelineFields> pipeline_schema = PipelineSchema(plugins);
  std::vector<config::FieldDoc> file_fields;
  FileSchema(pipeline_schema).Describe("", &file_fields);
  std::vector<config::FieldDoc> pipeline_fields;
  pipeline_schema.Describe("", &pipeline_fields);
  std::erase_if(file_fields,
                [](const config::FieldDoc& field) { return field.path.starts_with("pipelines."); });
  std::string text =
      "# Pipeline file\n\n"
      "Written by `firn docs configuration` out of the declarations that read the file; a test holds the two "
      "together.\n\n"
      "The file is YAML. `${NAME}` and `${NAME:-default}` take an environment variable, `${file:PATH}` a "
      "file's text, `$$` is a dollar sign; "
      "they work in every value.\nA relative path is relative to the file that holds it. Several files "
      "merge; the same key twice is an error. "
      "Durations are written `250ms`, `60s`, `1h30m`; sizes `512MiB`, `1GB`.\n"
      "`firn check FILE` reports everything that is wrong at once, with line and remedy.\n";
  text += Section("The file", "Top level.", file_fields, "");
  text += PluginSections(plugins.catalogs, "Catalog", "Keys of `catalogs.<name>` with `type: {}`.", "");
  text += Section("Pipeline", "Keys of `pipelines.<name>`.", pipeline_fields, "");
  text += PluginSections(plugins.sources, "Source", "Keys of `source.{}`.", "");
  std::vector<config::FieldDoc> registry_fields;
  decode::SchemaRegistrySchema().Describe("", &registry_fields);
  text += Section("Schema registry", "Keys of `decode.schema_registry`.", registry_fields, "");
  std::vector<config::FieldDoc> key_fields;
  KeySchema().Describe("", &key_fields);
  text += Section("Keys", "Keys of `decode.key` beside those of its format.", key_fields, "");
  text += PluginSections(plugins.decoders, "Format", "Keys of `decode.value` with `format: {}`.", "");
  return text;
}

}  // namespace firn::pipeline
