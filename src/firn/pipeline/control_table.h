#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/protocol/shared_read.h"
#include "firn/pipeline/dead_letter_sink.h"
#include "firn/runtime/threads.h"

namespace firn::pipeline {

/// The pipeline's dead-letter table, which is its control table as well: letters, and the lower bound of what
/// is committed whatever the table (property `firn.complete.<id>`). One per pipeline and process; calls from
/// any thread, one at a time reaches the table.
class ControlTable {
 public:
  ControlTable(DeadLetterSink sink, runtime::Threads& threads)
      : one_at_a_time_(threads), sink_(std::move(sink)) {}

  /// Commits the letters that are not in yet. `letters_id`: whose positions tell (LettersId).
  Status WriteLetters(const std::string& letters_id, const std::vector<record::DeadLetter>& letters,
                      const record::PositionRanges& ranges, const std::stop_token& abort);

  struct State {
    std::string uuid;
    std::optional<commit::Complete> complete;
  };
  /// What is there; an empty state when there is no table.
  Result<State> Load(const std::string& pipeline_id);
  /// Writes `ours` over what is there (commit::MergeComplete), in a commit without snapshot; makes the table
  /// when it is not there.
  Result<State> Store(const std::string& pipeline_id, const commit::Complete& ours,
                      const std::stop_token& abort);

 private:
  runtime::Turnstile one_at_a_time_;
  DeadLetterSink sink_;
};

/// Letters of each table have positions of their own: tables commit at different times, so letters do not
/// come in the order of their offsets. The letters of a pipeline of one table are the pipeline's.
std::string LettersId(const std::string& pipeline_id, const std::string& table, bool sole);

}  // namespace firn::pipeline
