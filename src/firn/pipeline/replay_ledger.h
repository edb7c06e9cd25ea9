#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/committer.h"
#include "firn/pipeline/dead_letter_sink.h"
#include "firn/record/dead_letter.h"

namespace firn::pipeline {

/// Which letters one replay sends: those that wait in this snapshot of the dead-letter table, within these
/// offsets. The same in whatever process works it out.
struct ReplayPlan {
  int64_t snapshot_id = 0;
  record::PositionRanges ranges;  ///< [from, to) of each partition
  bool operator==(const ReplayPlan& other) const;
};
/// Compact JSON. Decode: kCorrupt with the reason.
std::string EncodePlan(const ReplayPlan& plan);
Result<ReplayPlan> DecodePlan(std::string_view text);

/// The replays of a pipeline, in its dead-letter table: a count in a progress property of its own, which is
/// even between replays and odd while one is open; the plan of the open one lies beside it. The fence of
/// commits (CheckFence) lets one process open a replay and one close it, whoever else tries; what is in the
/// table counts, not what a process meant to write.
class ReplayLedger {
 public:
  ReplayLedger(DeadLetterSink& sink, std::string pipeline_id);

  struct State {
    int64_t count = 0;
    std::optional<ReplayPlan> open;
    /// Of the replay that is open: the identity of its progress in the tables that it writes to.
    std::string ReplayId(const std::string& pipeline_id) const;
  };
  Result<State> Load() const;
  /// Returns what then is open: our plan, or that of a process that was faster.
  Result<State> Open(const State& state, const ReplayPlan& plan, std::stop_token abort);
  /// Marks its letters and closes it, in one commit.
  Status Close(const State& state, const std::vector<record::DeadLetter>& letters, std::stop_token abort);

 private:
  Status Move(const State& state, commit::TableBatch batch, std::optional<std::string> plan,
              std::stop_token abort);

  DeadLetterSink& sink_;
  const std::string pipeline_id_;
  const std::string ledger_id_;
};

}  // namespace firn::pipeline
