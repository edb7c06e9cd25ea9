#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/record/position.h"

namespace firn::pipeline {

enum class PipelineState : uint8_t { kStarting, kRunning, kPaused, kDegraded, kFailed, kFinished };
std::string_view ToString(PipelineState state);

/// One table of a pipeline, for `/status`.
struct TableStatus {
  std::string name;
  PipelineState state = PipelineState::kStarting;
  std::string reason;  ///< why it is degraded or failed, with the remedy
  int64_t rows_committed = 0;
  int64_t dead_letters = 0;
  int64_t commits = 0;
  int64_t last_commit_ms = 0;  ///< wall clock, 0: none in this run
  std::optional<int64_t> last_snapshot_id;
  std::string metadata_location;
  record::Positions positions;  ///< where it stands
};

/// What a pipeline shows of itself; copied out under a lock, for `/status`, the live line and the closing
/// summary.
struct PipelineStatus {
  std::string id;
  std::string table;  ///< of several: the rules' names
  PipelineState state = PipelineState::kStarting;
  std::string reason;  ///< why it is degraded or failed, with the remedy
  int64_t rows_committed = 0;
  int64_t rows_decoded = 0;
  int64_t input_bytes = 0;
  int64_t dead_letters = 0;
  int64_t skipped = 0;
  int64_t tombstones_skipped = 0;
  int64_t unknown_fields_ignored = 0;
  int64_t commits = 0;
  int64_t conflicts = 0;
  int64_t data_files = 0;
  int64_t lag_records = -1;      ///< not committed yet; -1: not known yet
  int64_t lag_files = -1;        ///< of sources that count in files; -1: not one of them, or not known yet
  int64_t lag_bytes = -1;        ///< of these files
  int64_t freshness_ms = -1;     ///< age of the oldest record not yet committed; 0 when lag is 0
  int64_t valid_through_ms = 0;  ///< wall clock: every record appended by then is in its table; 0: unknown
  int64_t last_commit_ms = 0;    ///< wall clock of the last commit, 0: none
  int64_t last_commit_took_ms = 0;
  std::optional<int64_t> last_snapshot_id;
  std::string metadata_location;
  std::string catalog_uri;            ///< for the line to paste into an engine
  int64_t total_records_target = -1;  ///< bounded runs: records between start and end, -1 when unknown
  std::map<record::SourcePartition, int64_t> lag;         ///< of our partitions, in records
  std::map<record::SourcePartition, int64_t> lag_age_ms;  ///< since when there is one; 0: there is none
  std::map<std::string, TableStatus> tables;  ///< by name; those that records came for in this run
};

/// How a pipeline ended; the exit code follows from it (product.md, "Commands").
enum class PipelineEnd : uint8_t {
  kDone,         ///< stopped on request after a clean flush, or caught up: 0
  kFailed,       ///< failed while running: 1
  kUserError,    ///< the user's input is wrong: 2
  kDataStop,     ///< stopped on purpose, going on would lose or double data: 3
  kInterrupted,  ///< the flush did not finish in time, or a second signal came; what was in flight is
                 ///< discarded: 130 or 143
};

}  // namespace firn::pipeline
