#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/committer.h"
#include "firn/iceberg/catalog.h"
#include "firn/pipeline/config.h"
#include "firn/record/dead_letter.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/ids.h"

namespace arrow {
class MemoryPool;
}

namespace firn::pipeline {

/// The pipeline's dead-letter table. Letters are committed here before the batch that moves past them; the
/// table has positions of its own, and letters below them are already in (a batch that is read again after a
/// crash). Made with the first letter. One call at a time.
class DeadLetterSink {
 public:
  DeadLetterSink(std::shared_ptr<iceberg::Catalog> catalog, DeadLetterConfig config, std::string pipeline_id,
                 runtime::Clock& clock, runtime::IdSource& ids, arrow::MemoryPool* pool);

  /// Commits what is not in the table yet, under the positions of `letters_id`. Letters of one partition must
  /// be in offset order. `ranges`: of the batch; they tell the logs the letters come from.
  Status Write(const std::string& letters_id, const std::vector<record::DeadLetter>& letters,
               const record::PositionRanges& ranges, const std::stop_token& abort);

  /// The table as it is; kNotFound when there is none yet.
  Result<iceberg::LoadedTable> Load() const;
  /// Commits to the table under this id; the table is made when it is not there.
  Result<commit::Committer*> CommitterOf(const std::string& id);
  /// These letters in invisible files, for a batch of CommitterOf.
  Result<std::vector<iceberg::DataFile>> StageRows(const std::vector<record::DeadLetter>& letters);
  std::string context() const { return "dead-letter table " + config_.table.ToString(); }

 private:
  Status AddMissingColumns(commit::Committer& committer, const iceberg::Schema& schema);
  Result<commit::TableBatch> Stage(const iceberg::LoadedTable& table, const std::string& letters_id,
                                   const std::vector<record::DeadLetter>& letters,
                                   const record::PositionRanges& ranges);
  Result<std::vector<iceberg::DataFile>> WriteFiles(const iceberg::LoadedTable& table,
                                                    std::span<const record::DeadLetter* const> letters);

  std::shared_ptr<iceberg::Catalog> catalog_;
  DeadLetterConfig config_;
  std::string pipeline_id_;
  runtime::Clock& clock_;
  runtime::IdSource& ids_;
  arrow::MemoryPool* pool_;
  std::map<std::string, std::unique_ptr<commit::Committer>> committers_;  ///< by id
};

}  // namespace firn::pipeline
