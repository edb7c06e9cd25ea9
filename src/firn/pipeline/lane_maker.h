#pragma once

#include <cstdint>
#include <memory>

#include "firn/base/result.h"
#include "firn/pipeline/lane.h"
#include "firn/pipeline/pipeline.h"
#include "firn/pipeline/sorter.h"
#include "firn/pipeline/target.h"

namespace firn::pipeline {

/// Makes lanes, and what sorts records for them, with the pipeline's settings: for the read that feeds every
/// table and for reads of one table. Thread-safe; outlives what it makes.
class LaneMaker {
 public:
  LaneMaker(const PipelineConfig& config, const PipelineDeps& deps,
            std::shared_ptr<const route::Router> router, TargetBook& book);

  /// kUnsupported when rules match by a field and the format cannot tell it before it decodes.
  Result<Sorter> MakeSorter() const;
  /// Lane `index` of the shared read, which polls the source's lane of that number. Not started.
  Result<std::unique_ptr<Lane>> ForAll(int index, source::Source& source) const;
  /// The lane of a source that is read for one table alone. Not started.
  Result<std::unique_ptr<Lane>> ForOne(uint32_t target, source::Source& source) const;

 private:
  LaneConfig Settings(int index) const;
  Result<std::unique_ptr<Lane>> Make(LaneConfig lane, source::Source& source) const;

  const PipelineConfig& config_;
  const PipelineDeps& deps_;
  const std::shared_ptr<const route::Router> router_;
  TargetBook& book_;
};

}  // namespace firn::pipeline
