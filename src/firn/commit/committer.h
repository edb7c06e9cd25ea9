#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/outcome.h"
#include "firn/iceberg/catalog.h"
#include "firn/iceberg/meta/manifest.h"
#include "firn/record/position.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/ids.h"

namespace firn::commit {

/// Conflicts and an unreachable catalog are retried this long where the table does not say otherwise.
inline constexpr int64_t kRetryLimitMs = 30 * 60'000;

struct CommitterConfig {
  iceberg::TableIdentifier table;
  std::string pipeline_id;
  std::string branch = iceberg::kMainBranch;
  /// The table's `commit.retry.total-timeout-ms` comes before it.
  int64_t retry_limit_ms = kRetryLimitMs;
  /// How long an unknown outcome is looked into before the pipeline stops with exit code 3.
  int64_t unknown_limit_ms = 10 * 60'000;
};

/// End offsets that the brokers told at one time: once the table's positions reach them, everything appended
/// by then is in.
struct EndObservation {
  int64_t time_ms = 0;
  std::map<record::SourcePartition, int64_t> ends;
};

/// What one batch brings to one table. Files are finished and invisible; they belong to the committer from
/// here on.
struct TableBatch {
  record::PositionRanges ranges;
  std::vector<iceberg::DataFile> files;
  std::vector<EndObservation>
      observed;  ///< in order of time; the newest that the positions reach becomes `firn.valid-through`
  std::vector<iceberg::SchemaPtr> schemas;  ///< that the records were decoded under
};

/// An operator's word about where a pipeline stands: positions that no batch led to. Computed from one state
/// of the table, and valid for that state alone.
struct PositionsOrder {
  std::string table_uuid;
  std::optional<int64_t> head;  ///< snapshot of the branch; empty: none yet
  std::string progress;         ///< text of the progress property; empty: there was none
  record::Positions positions;  ///< the whole map from now on
  std::string mark;             ///< what was said, for the snapshot's summary (kSummaryOperator)
};

/// Commits batches of one pipeline to one table and branch: the only caller of the catalog's commit, and the
/// only place that loops on one. Each try loads the table, looks for its own commit id (an earlier try may
/// have landed), checks the fence against the very state it replaces and whether the rows fit its schema and
/// specs (another engine may have altered it), rebuilds everything that depends on the base, and pins that
/// base.
///
/// Deleting (door 1 of invariant 4): files of a batch are removed only when the batch was definitely not
/// applied: the outcome is a refusal or a lost race, and no try of it is in doubt. A try is in doubt from an
/// unknown answer until the head has moved off its pinned parent and the complete walk to that parent does
/// not show our id. Otherwise files stay.
///
/// One per table and process; calls must not overlap (the committer thread). `abort` gives up waiting at
/// once: what is not known to be committed is then left as after a crash.
class Committer {
 public:
  Committer(std::shared_ptr<iceberg::Catalog> catalog, CommitterConfig config, runtime::Clock& clock,
            runtime::IdSource& ids);

  CommitOutcome CommitBatch(const TableBatch& batch, std::stop_token abort);
  /// The refusal that CommitBatch would answer with now, if any: to be asked before anything that belongs to
  /// the batch (its dead letters) is committed elsewhere. Files of a refused batch are removed.
  std::optional<Rejected> Foresee(const TableBatch& batch);
  /// Removes the files of a batch that is given up before it was ever handed to CommitBatch.
  static void RemoveUnsubmitted(const TableBatch& batch, const std::shared_ptr<store::Store>& store);

  /// The marker of a first run (epoch 0): commits start positions of the partitions the table does not know
  /// yet. AlreadyCommitted when it knows all of them.
  CommitOutcome CommitStart(const record::Positions& start, std::stop_token abort);

  /// The only way in which positions move backwards: a marker snapshot with the next epoch and the operator's
  /// mark. Rejected with kConflict when the table no longer stands as it did when the order was computed; a
  /// process that runs meanwhile is refused by the fence at its next commit and reads on from here.
  CommitOutcome CommitOrder(const PositionsOrder& order, std::stop_token abort);

  /// What a change of the table needs, computed from the state it replaces; no updates: nothing to do any
  /// more.
  using PlanChange = std::function<Result<std::vector<iceberg::Update>>(const iceberg::TableMetadata&)>;
  /// A commit without snapshot (schema changes). Retries like a batch; the plan runs on each try.
  Result<iceberg::LoadedTable> Change(const PlanChange& plan, std::stop_token abort);

  const CommitterConfig& config() const { return config_; }

 private:
  class Attempt;

  std::shared_ptr<iceberg::Catalog> catalog_;
  CommitterConfig config_;
  runtime::Clock& clock_;
  runtime::IdSource& ids_;
};

}  // namespace firn::commit
