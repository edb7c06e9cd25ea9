#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/config/load.h"
#include "firn/config/node.h"
#include "firn/config/problems.h"
#include "firn/config/type.h"
#include "firn/decode/schema_registry/config.h"
#include "firn/pipeline/pipeline_file.h"

namespace firn::pipeline {

using DescribeFields = std::function<void(const std::string& path, std::vector<config::FieldDoc>* out)>;

/// What a source's keys may depend on outside themselves.
struct SourceContext {
  std::string pipeline_id;
};

/// How the plug-ins of the registry read their part of the file. `parse` returns empty after adding what is
/// wrong to the problems; `describe` appends the reference of the keys.
struct SourcePlugin {
  std::string name;
  std::function<std::optional<SourceSetup>(const SourceContext&, const config::Node&, config::Problems&)>
      parse;
  DescribeFields describe;
};
/// What a format's keys may depend on outside themselves.
struct DecoderContext {
  config::Node decode;                                   ///< all of `decode:`, for problems
  std::string source;                                    ///< plug-in of the pipeline's source
  std::optional<decode::SchemaRegistryConfig> registry;  ///< `decode.schema_registry`, for keys and values
  std::string key_column;  ///< of `decode.key`: the column of keys that are one plain value; empty for values
};
struct DecoderPlugin {
  std::string name;
  /// The map that holds `format`; an empty one for the short form.
  std::function<std::optional<DecoderSetup>(const DecoderContext&, const config::Node&, config::Problems&)>
      parse;
  DescribeFields describe;
};
struct CatalogPlugin {
  std::string name;
  /// The whole entry, `type` included.
  std::function<std::optional<CatalogSetup>(const std::string& key, const config::Node&, config::Problems&)>
      parse;
  DescribeFields describe;
};
struct Plugins {
  std::vector<SourcePlugin> sources;
  std::vector<DecoderPlugin> decoders;
  std::vector<CatalogPlugin> catalogs;
};

/// Reads, merges and checks pipeline files. Everything that is wrong with them comes in one error, each
/// problem with file, line, key path and what is allowed. Connects to nothing.
Result<PipelineFile> ReadPipelineFiles(const std::vector<std::string>& paths, const Plugins& plugins,
                                       const config::Environment& environment = config::SystemEnvironment());
/// The same for one text (tests, fuzzing).
Result<PipelineFile> ReadPipelineText(std::string_view text, const std::string& file_name,
                                      const Plugins& plugins, const config::Environment& environment);

/// docs/configuration.md, out of the same declarations that read the file.
std::string ConfigurationReference(const Plugins& plugins);

}  // namespace firn::pipeline
