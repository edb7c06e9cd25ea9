#pragma once

#include "firn/app/registry.h"
#include "firn/pipeline/config_reader.h"

/// One row of the registry each, in a file of its own.
namespace firn::app {

pipeline::SourcePlugin Files(const PluginDeps& deps);
pipeline::SourcePlugin Kafka(const PluginDeps& deps);

pipeline::DecoderPlugin Csv(const PluginDeps& deps);
pipeline::DecoderPlugin Json(const PluginDeps& deps);
pipeline::DecoderPlugin Avro(const PluginDeps& deps);
pipeline::DecoderPlugin Parquet(const PluginDeps& deps);
pipeline::DecoderPlugin Raw(const PluginDeps& deps);

pipeline::CatalogPlugin Rest(const PluginDeps& deps);

pipeline::CatalogPlugin Sql(const PluginDeps& deps);

}  // namespace firn::app
