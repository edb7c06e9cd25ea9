#include "firn/app/registry.h"

#include "firn/app/plugins/plugins.h"

namespace firn::app {

pipeline::Plugins MakePlugins(const PluginDeps& deps) {
  return {
      .sources = {Files(deps), Kafka(deps)},
      .decoders = {Json(deps), Avro(deps), Csv(deps), Parquet(deps), Raw(deps)},
      .catalogs = {Sql(deps), Rest(deps)},
  };
}

}  // namespace firn::app
