#include "firn/cli/pipeline_access.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "firn/cli/arguments.h"
#include "firn/cli/services.h"
#include "firn/pipeline/config_reader.h"

namespace firn::cli {

Result<std::shared_ptr<iceberg::Catalog>> ChosenPipeline::Catalog(Context& context,
                                                                  const pipeline::TableName& table) const {
  FIRN_ASSIGN(const pipeline::CatalogSetup* setup, file_.FindCatalog(table.catalog));
  FIRN_ASSIGN_CTX(auto catalog, context.services.OpenExistingCatalog(*setup), "catalog " + table.catalog);
  return catalog;
}

Result<iceberg::LoadedTable> ChosenPipeline::Load(Context& context, const pipeline::TableName& table) const {
  FIRN_ASSIGN(const std::shared_ptr<iceberg::Catalog> catalog, Catalog(context, table));
  return catalog->LoadTable({table.ns, table.name});
}

Result<std::unique_ptr<source::Source>> ChosenPipeline::OpenSource() const {
  FIRN_ASSIGN(auto source, setup().MakeSource(1));
  FIRN_TRY(source->Open());
  return source;
}

void PipelineAccess::Declare(Arguments& arguments) {
  files_.Declare(arguments);
  arguments.Option("--pipeline", name_, "Which of the files' pipelines (default: the only one)").Value("ID");
}

Result<ChosenPipeline> ChoosePipeline(Context& context, const std::vector<std::string>& given,
                                      const std::string& name) {
  FIRN_ASSIGN(const std::vector<std::string> paths, ConfigFiles(given));
  FIRN_ASSIGN(auto file, pipeline::ReadPipelineFiles(paths, context.services.plugins()));
  std::vector<std::string> ids;
  for (const pipeline::PipelineSetup& setup : file.pipelines) ids.push_back(setup.config.id);
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool named = name == ids[i] || name == file.pipelines[i].config.key;
    if (named || (name.empty() && ids.size() == 1)) return ChosenPipeline(std::move(file), i);
  }
  if (ids.empty()) {
    return Error(ErrorKind::kInvalidArgument, fmt::format("{} has no pipelines", fmt::join(paths, ", ")))
        .WithRemedy("Name the file that holds the pipeline.");
  }
  return Error(ErrorKind::kInvalidArgument, name.empty() ? "the files hold several pipelines"
                                                         : fmt::format("there is no pipeline '{}'", name))
      .WithRemedy(fmt::format("Name one with --pipeline: {}.", fmt::join(ids, ", ")));
}

}  // namespace firn::cli
