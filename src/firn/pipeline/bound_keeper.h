#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/protocol/shared_read.h"
#include "firn/pipeline/control_table.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/executor.h"

namespace firn::pipeline {

/// The lower bound in the control table, below which every batch of every table was committed, with what the
/// table told at the last assignment. Written at most once a minute when something has changed, and at a
/// clean stop; on the committers' pool, one write at a time. Knows also how far the source was told
/// (Source::Acknowledge). Control thread only.
class BoundKeeper {
 public:
  BoundKeeper(std::string pipeline_id, ControlTable& control, runtime::Executor& committers,
              runtime::Clock& clock, std::stop_token abort);
  /// Waits for a write that goes on.
  ~BoundKeeper();
  BoundKeeper(const BoundKeeper&) = delete;
  BoundKeeper& operator=(const BoundKeeper&) = delete;

  // --- what the control table has

  void Adopt(const ControlTable::State& control);
  const commit::Complete& stored() const { return stored_; }
  const std::string& control_uuid() const { return control_uuid_; }
  /// The table as it was made by this pipeline; nothing when it was never there.
  std::optional<commit::Complete::KnownTable> Known(const std::string& table) const;
  /// A table that no rule makes any more stays behind, and is told on.
  void KeepBehind(const std::string& table, const commit::PendingFrom& missing);

  // --- what is to be written

  /// What this process knows of one of its tables, for Ours.
  struct TableState {
    std::string name;
    std::string uuid;  ///< empty: the table is not there (yet)
    std::string rule;  ///< name template that makes it
    std::string key;
    commit::PendingFrom missing;
  };
  /// What this process has to say of its own partitions, those of `bound`.
  commit::Complete Ours(record::Positions bound, const std::vector<TableState>& tables) const;

  // --- writing

  /// Something was committed, or became behind: the next write is worth it.
  void Changed() { changed_ = true; }
  /// True when it is time to write and worth it; then the caller is to call Begin.
  bool TakeTurn();
  void Begin(commit::Complete ours);
  /// Looks at the write that goes on. A value: trouble, and it will be tried again. An error: it never will.
  Result<std::optional<Error>> Poll();
  /// At a clean stop: waits.
  Status StoreNow(commit::Complete ours);

  // --- what the source was told

  /// Of `bound` the positions that are news to the source; they count as told. `started`: our partitions.
  record::Positions TakeUntold(record::Positions bound, const record::Positions& started);
  /// Partitions were given up.
  void Forget(const std::vector<record::SourcePartition>& partitions);

  static constexpr int64_t kEveryMs = 60'000;

 private:
  runtime::Future<Result<ControlTable::State>> Store(commit::Complete ours);

  const std::string pipeline_id_;
  ControlTable& control_;
  runtime::Executor& committers_;
  runtime::Clock& clock_;
  const std::stop_token abort_;

  commit::Complete stored_;
  std::string control_uuid_;
  std::map<std::string, commit::PendingFrom> strangers_behind_;
  std::optional<runtime::Future<Result<ControlTable::State>>> storing_;
  bool changed_ = false;
  int64_t next_ns_ = 0;  ///< 0: nobody has asked yet
  record::Positions told_;
};

}  // namespace firn::pipeline
