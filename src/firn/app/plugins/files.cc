#include "firn/app/plugins/plugins.h"

#include <utility>

#include <fmt/format.h>

#include "firn/source/files/config.h"
#include "firn/source/files/files_source.h"

namespace firn::app {

pipeline::SourcePlugin Files(const PluginDeps& deps) {
  namespace files = source::files;
  const auto parse = [deps](const pipeline::SourceContext& /*context*/, const config::Node& node,
                            config::Problems& problems) -> std::optional<pipeline::SourceSetup> {
    std::optional<files::FilesConfig> config = files::ParseFilesConfig(node, problems);
    if (!config) return std::nullopt;
    pipeline::SourceSetup setup;
    setup.type = "files";
    setup.summary =
        fmt::format("files {}, {}", config->path, config->mode == files::Mode::kOnce ? "once" : "watched");
    setup.of_files = true;
    setup.bounded = config->mode == files::Mode::kOnce;
    setup.make = [config = *std::move(config), deps](const pipeline::SourceParts& parts) {
      files::FilesDeps own;
      own.lanes = parts.lanes;
      own.prefetch_bytes = deps.prefetch_bytes();
      own.format = parts.files;
      own.stores = deps.stores;
      own.clock = deps.clock;
      return files::MakeFilesSource(config, own);
    };
    return setup;
  };
  const auto describe = [](const std::string& path, std::vector<config::FieldDoc>* out) {
    files::FilesSchema().Describe(path, out);
  };
  return {"files", parse, describe};
}

}  // namespace firn::app
