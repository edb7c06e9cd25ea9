#pragma once

#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/update.h"
#include "firn/pipeline/config.h"
#include "firn/record/schema_delta.h"

namespace firn::pipeline {

/// What a lane's schema delta asks of the table, planned anew on each try of the commit.
class SchemaChange {
 public:
  SchemaChange(const PipelineConfig& config, const record::SchemaDelta& delta)
      : config_(config), delta_(delta) {}

  /// Updates that make room; none when the table has room already (another lane or process was first) or the
  /// change is refused.
  Result<std::vector<iceberg::Update>> Plan(const iceberg::TableMetadata& table);
  /// Why the change was refused; empty when it was not.
  const std::string& refused() const { return refused_; }

 private:
  const PipelineConfig& config_;
  const record::SchemaDelta& delta_;
  std::string refused_;
};

}  // namespace firn::pipeline
