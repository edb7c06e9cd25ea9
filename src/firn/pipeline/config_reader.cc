#include "firn/pipeline/config_reader.h"

#include <utility>

#include <fmt/format.h>

#include "firn/pipeline/file_builder.h"
#include "firn/pipeline/pipeline_schema.h"
#include "firn/pipeline/plugin_names.h"

namespace firn::pipeline {

namespace {

using config::Node;
using config::Problems;

Result<PipelineFile> ReadTree(const std::optional<Node>& root, const Plugins& plugins, Problems& problems) {
  if (root) {
    const config::Schema<PipelineFields> pipeline_schema = PipelineSchema(plugins);
    FileFields fields;
    FileSchema(pipeline_schema).Read(*root, problems, &fields);
    PipelineFile file = FileBuilder(plugins, *root, problems).Build(std::move(fields));
    if (problems.empty()) return file;
  }
  FIRN_TRY(problems.ToStatus());
  return Error(ErrorKind::kInternal, "a pipeline file was refused without a reason");
}

}  // namespace

Result<const CatalogSetup*> PipelineFile::FindCatalog(const std::string& key) const {
  const auto found = catalogs.find(key);
  if (found != catalogs.end()) return &found->second;
  std::vector<std::string> known;
  for (const auto& [name, setup] : catalogs) known.push_back(name);
  return Error(ErrorKind::kNotFound, fmt::format("there is no catalog \"{}\" in {}{}", key,
                                                 fmt::join(paths, ", "), Suggestion(key, known)))
      .WithRemedy(known.empty() ? "Add one under catalogs:."
                                : fmt::format("There is {}.", fmt::join(known, ", ")));
}

Result<PipelineFile> ReadPipelineFiles(const std::vector<std::string>& paths, const Plugins& plugins,
                                       const config::Environment& environment) {
  Problems problems;
  const std::optional<Node> root = config::LoadFiles(paths, environment, problems);
  FIRN_ASSIGN(PipelineFile file, ReadTree(root, plugins, problems));
  file.paths = paths;
  return file;
}

Result<PipelineFile> ReadPipelineText(std::string_view text, const std::string& file_name,
                                      const Plugins& plugins, const config::Environment& environment) {
  Problems problems;
  const std::optional<Node> root = config::LoadText(text, file_name, environment, problems);
  FIRN_ASSIGN(PipelineFile file, ReadTree(root, plugins, problems));
  file.paths = {file_name};
  return file;
}

}  // namespace firn::pipeline
