#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/committer.h"
#include "firn/pipeline/batch.h"
#include "firn/pipeline/control_table.h"
#include "firn/runtime/executor.h"

namespace firn::pipeline {

/// What became of one batch, with the counts that were in it.
struct BatchReport {
  /// Set when the batch did not get as far as the committer (a file or the dead letters could not be
  /// written); its files were removed.
  std::optional<Error> failed;
  bool letters_failed = false;  ///< it was the dead letters: every table's next batch would meet the same
  std::optional<commit::CommitOutcome> outcome;  ///< empty for a batch of letters alone
  record::PositionRanges ranges;
  int64_t records = 0;
  int64_t rows = 0;
  int64_t input_bytes = 0;
  int64_t dead_letters = 0;
  std::map<std::string, int64_t> dead_letters_by_reason;
  int64_t skipped = 0;
  int64_t tombstones_skipped = 0;
  int64_t unknown_fields_ignored = 0;
  int64_t data_files = 0;
  int64_t data_file_bytes = 0;
  int64_t finish_ms = 0;                  ///< closing the files
  int64_t commit_ms = 0;                  ///< dead letters and commit
  std::optional<int64_t> metadata_bytes;  ///< of the table's new metadata file, where it was told
};

struct BatchCommitContext {
  commit::Committer* committer = nullptr;  ///< null: there are letters alone
  ControlTable* control = nullptr;
  std::string letters_id;           ///< see LettersId
  runtime::Executor* io = nullptr;  ///< closes files
  runtime::Clock* clock = nullptr;
  /// Where the catalog does not tell the size of the metadata file, the store is asked (MetadataWatch).
  bool asks_metadata_size = false;
};

/// The end of a batch's life, on the committer thread: close the files (on the I/O pool), commit the dead
/// letters, then the rows with their positions. In this order: a letter must be safe before the positions
/// move past it.
BatchReport CommitPart(BatchPart part, const record::PositionRanges& ranges,
                       const std::vector<commit::EndObservation>& observed, const BatchCommitContext& context,
                       const std::stop_token& abort);

}  // namespace firn::pipeline
