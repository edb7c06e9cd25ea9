#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/pipeline/lane_set.h"
#include "firn/pipeline/patience.h"
#include "firn/pipeline/table_run.h"

namespace firn::pipeline {

/// Something came to an end at a table; an error is the end of the table itself.
struct TableEvent {
  TableRun* table = nullptr;
  Result<TableNews> news;
};

struct TableFailure {
  TableRun* table = nullptr;
  Error error;
};

/// The tables of one run, made as records for them come, with what is asked of all of them: which are due,
/// which failed, what is not committed yet. It orders nothing by itself: what it returns the control loop
/// acts upon. Control thread only.
class TableSet {
 public:
  explicit TableSet(const TableServices& services) : services_(services) {}

  /// Makes the table's run when it is new.
  TableRun& Of(const TargetPtr& target);
  TableRun& At(uint32_t id) const { return *tables_.at(id); }
  /// The pipeline's only table (TableServices::sole).
  TableRun& Sole() const;
  const std::map<uint32_t, std::unique_ptr<TableRun>>& all() const { return tables_; }

  // --- batches

  /// The lanes are told to hand their parts over.
  void Cut(const CutOrder& order);
  /// Gives each table its parts; `read`: how far the read has come with them.
  Status Take(SharedCut cut, const record::Positions& read);
  std::set<uint32_t> Due();
  /// TableRun::Submit.
  Status Submit(TableRun& table, const std::vector<commit::EndObservation>& observed);
  void DiscardCarry();
  bool OverLimits() const;
  /// Tables that hold rows of these partitions, filled or in flight.
  std::vector<TableRun*> Touching(const std::vector<record::SourcePartition>& partitions) const;
  /// What left the lanes and is not committed.
  commit::PendingFrom Pending() const;

  // --- what runs

  /// Of each table that has something to tell, or has failed by it.
  std::vector<TableEvent> Poll();
  /// A table that is well holds what is not committed yet.
  bool AnyUncommitted() const;
  bool AnyInFlight() const { return FirstRunning(/*all=*/false) != nullptr; }
  /// A table with a batch in flight; with `all` also one that is opened or changed. Null: none.
  TableRun* FirstRunning(bool all) const;
  /// Loads the tables again, all at once (a catalog may answer slowly), and waits. Nothing may be in flight.
  std::vector<TableFailure> Refresh(const Patience& patience);
  /// Records of these partitions wait for a table to be opened, or are missing in one that catches up.
  bool AnyBehind(const record::Positions& started) const;

  // --- failures

  /// The table leaves the shared read and the others go on: Ok. Returns the error where the run ends with it:
  /// the pipeline has no other table (then nothing changes), or none that is left, or --fail-fast.
  Status Fail(TableRun& table, Error error);
  /// At the end of the run: Ok, or the gravest failure in the words of all of them.
  Status Failed() const;
  /// For people; empty when none has failed.
  std::string FailureText() const;

  int64_t OldestAgeMs() const;
  int64_t writers_in_flight() const;

 private:
  const TableServices& services_;
  std::map<uint32_t, std::unique_ptr<TableRun>> tables_;
  size_t failed_ = 0;
  int64_t pipeline_records_ = 0;  ///< since records without a table were last looked at
};

}  // namespace firn::pipeline
