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
  SchemaChange(const TableConfig& config, const record::SchemaDelta& delta)
      : config_(config), delta_(delta) {}

  /// Updates that make room; none when the table has room already (another lane or process was first) or
  /// nothing of it is possible.
  Result<std::vector<iceberg::Update>> Plan(const iceberg::TableMetadata& table);

  /// Of the last plan: what of the delta is not possible. The decoder is bound with it, or it would ask
  /// again.
  const std::vector<record::RefusedChange>& refused() const { return refused_; }
  /// For people; empty when nothing (or only a part) was refused.
  const std::string& why_refused() const { return why_refused_; }
  /// For the log: `adds gate (string), widens delay from int to long`.
  const std::string& summary() const { return summary_; }

 private:
  const TableConfig& config_;
  const record::SchemaDelta& delta_;
  std::vector<record::RefusedChange> refused_;
  std::string why_refused_;
  std::string summary_;
};

}  // namespace firn::pipeline
