#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/pipeline/pipeline_file.h"

namespace firn::cli {

/// What `firn check` found out about one pipeline beyond its file; all empty when it did not look
/// (--offline).
struct CheckFindings {
  std::optional<std::string> source;   ///< "4 partitions, 200,000 records to read"
  std::optional<std::string> catalog;  ///< "will be created"
  std::vector<std::optional<std::string>>
      tables;                         ///< by rule: "exists", "will be created", "12 tables so far"
  std::vector<std::string> problems;  ///< each a sentence or two, with the remedy
};

/// What would run, for people: source, table, commits and files a day, and the statement of a table to
/// create.
std::string PipelineReport(const pipeline::PipelineSetup& setup, const CheckFindings& findings);

/// Commits a day at the configured interval, rounded up.
int64_t CommitsPerDay(const pipeline::CommitConfig& commit);

}  // namespace firn::cli
