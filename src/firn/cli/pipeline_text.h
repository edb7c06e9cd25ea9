#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/decode/inferred_schema.h"
#include "firn/pipeline/column_hints.h"

namespace firn::cli {

/// Where `firn init` was told to look, and what to call things.
struct PipelineDraft {
  std::string id;
  std::string kafka;  ///< bootstrap servers; empty: files
  std::string topic;
  std::string files;                    ///< folder, glob or s3:// location
  std::vector<std::string> properties;  ///< `name=value` of librdkafka; a `${NAME}` in the value stays one
  std::string format;
  std::string schema_registry;  ///< URL; empty: none
  std::string catalog_uri;
  std::string warehouse;
  std::string table;  ///< catalog.namespace.table
};

/// The draft as a pipeline file without columns: what the sample is read with.
std::string PipelineText(const PipelineDraft& draft);

/// The same with the columns found, and comments on what a person should look at.
std::string PipelineText(const PipelineDraft& draft, const decode::InferredSchema& found,
                         const std::vector<pipeline::ColumnHint>& hints);

/// A value as YAML takes it literally: plain where it can be, in double quotes else, `$` doubled.
std::string YamlText(std::string_view value);

}  // namespace firn::cli
