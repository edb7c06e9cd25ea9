#pragma once

#include <memory>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/cli/command.h"
#include "firn/cli/config_files.h"
#include "firn/iceberg/catalog.h"
#include "firn/pipeline/pipeline_file.h"

namespace firn::cli {

class Arguments;

/// One pipeline of the files of a call.
class ChosenPipeline {
 public:
  ChosenPipeline(pipeline::PipelineFile file, size_t index) : file_(std::move(file)), index_(index) {}
  const pipeline::PipelineFile& file() const { return file_; }
  const pipeline::PipelineSetup& setup() const { return file_.pipelines[index_]; }
  const pipeline::PipelineConfig& config() const { return setup().config; }

  /// Makes nothing; a catalog that is not there yet answers kNotFound.
  Result<std::shared_ptr<iceberg::Catalog>> Catalog(Context& context, const pipeline::TableName& table) const;
  Result<iceberg::LoadedTable> Load(Context& context, const pipeline::TableName& table) const;
  /// Connected, for one lane.
  Result<std::unique_ptr<source::Source>> OpenSource() const;

 private:
  pipeline::PipelineFile file_;
  size_t index_;
};

/// The only pipeline of the files, or the one that is named, by its id or the key above it. `given`: as
/// ConfigFiles takes them.
Result<ChosenPipeline> ChoosePipeline(Context& context, const std::vector<std::string>& given,
                                      const std::string& name);

/// Pipeline files and the `--pipeline` of the commands that work on one of them.
class PipelineAccess {
 public:
  void Declare(Arguments& arguments);
  Result<ChosenPipeline> Choose(Context& context) const {
    return ChoosePipeline(context, files_.given(), name_);
  }

 private:
  FileArguments files_;
  std::string name_;
};

}  // namespace firn::cli
