#include "firn/commit/committer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "firn/base/time.h"
#include "firn/commit/protocol/history.h"
#include "firn/commit/protocol/progress.h"
#include "firn/commit/protocol/schema_fit.h"
#include "firn/iceberg/meta/append.h"
#include "firn/obs/log.h"
#include "firn/runtime/fault_point.h"
#include "firn/runtime/retry.h"
#include "firn/store/attempt_files.h"

namespace firn::commit {

namespace {

using iceberg::CatalogCommitResult;
using iceberg::LoadedTable;
using iceberg::TableMetadata;
using iceberg::Update;

std::optional<int64_t> HeadId(const TableMetadata& table, const std::string& branch) {
  const iceberg::Snapshot* head = table.Head(branch);
  return head == nullptr ? std::nullopt : std::optional(head->snapshot_id);
}

int64_t NumberProperty(const TableMetadata& table, const char* key, int64_t default_value) {
  auto it = table.properties.find(key);
  if (it == table.properties.end()) return default_value;
  const int64_t value = std::strtoll(it->second.c_str(), nullptr, 10);
  return value > 0 ? value : default_value;
}

// Pauses between tries; the bounds are the table's own `commit.retry.*`.
class BackOff {
 public:
  BackOff(runtime::Clock& clock, runtime::IdSource& ids) : clock_(clock), ids_(ids) {
    policy_.max_backoff_ms = 60'000;
  }

  void Bounds(const TableMetadata& table) {
    policy_.initial_backoff_ms = NumberProperty(table, "commit.retry.min-wait-ms", 100);
    policy_.max_backoff_ms =
        std::max(policy_.initial_backoff_ms, NumberProperty(table, "commit.retry.max-wait-ms", 60'000));
  }

  // False when `abort` was requested.
  bool Wait(const std::stop_token& abort) {
    return clock_.SleepUnlessStopped(policy_.BackoffMs(++attempt_, ids_), abort);
  }

 private:
  runtime::Clock& clock_;
  runtime::IdSource& ids_;
  runtime::RetryPolicy policy_;
  int attempt_ = 0;
};

bool ReachedEnds(const EndObservation& observed, const record::Positions& positions) {
  return std::ranges::all_of(observed.ends, [&](const auto& end) {
    auto it = positions.find(end.first);
    return it != positions.end() && it->second.next >= end.second;
  });
}

bool Maintained(const TableMetadata& table) {
  return table.Property(kCreatedByFirn, "") == "true" && table.Property("gc.enabled", "true") == "true";
}

Status BeforeRequest() {
  FIRN_FAULT_POINT(commit_before_request);
  return Ok();
}

Status AfterAnswer() {
  FIRN_FAULT_POINT(commit_after_answer);
  return Ok();
}

}  // namespace

/// One batch on its way into the table, over all its tries.
class Committer::Attempt {
 public:
  Attempt(Committer& owner, const TableBatch& batch, bool marker, std::stop_token abort,
          const PositionsOrder* order = nullptr)
      : owner_(owner),
        batch_(batch),
        marker_(marker),
        order_(order),
        abort_(std::move(abort)),
        back_off_(owner.clock_, owner.ids_),
        retry_limit_ms_(owner.config_.retry_limit_ms) {}

  CommitOutcome Run() {
    const int64_t begin_ns = owner_.clock_.MonotonicNs();
    for (;;) {
      if (abort_.stop_requested()) return GiveUp(Error(ErrorKind::kCancelled, "stopped while committing"));
      if (auto outcome = Try()) return *std::move(outcome);
      const int64_t waited_ms = (owner_.clock_.MonotonicNs() - begin_ns) / 1'000'000;
      const bool unknown = std::ranges::any_of(doubts_, [](const Doubt& doubt) { return !doubt.refused; });
      const int64_t limit_ms =
          unknown ? std::min(retry_limit_ms_, owner_.config_.unknown_limit_ms) : retry_limit_ms_;
      TellOfRetry(waited_ms);
      if (waited_ms >= limit_ms || !back_off_.Wait(abort_)) return GiveUp(*last_error_);
    }
  }

  std::optional<Rejected> Foresee() {
    auto base = owner_.catalog_->LoadTable(owner_.config_.table);
    if (!base.ok()) return std::nullopt;
    store_ = base->store;
    auto progress = FindProgress(*base->metadata, owner_.config_.pipeline_id, owner_.config_.branch);
    if (!progress.ok()) return std::nullopt;
    std::optional<CommitOutcome> outcome = Inspect(*base, *progress);
    if (auto* rejected = outcome ? std::get_if<Rejected>(&*outcome) : nullptr) return std::move(*rejected);
    return std::nullopt;
  }

 private:
  // A try that may have been applied: what it would have left in the history, and the head it was pinned to.
  struct Doubt {
    std::string commit_id;
    std::optional<int64_t> pinned_parent;
    bool refused = false;  ///< what came was a refusal, of a second copy or in words not the catalog's
  };

  // At once, and every ten seconds; lost races are nothing to speak of until they last.
  void TellOfRetry(int64_t waited_ms) {
    constexpr int64_t kPauseMs = 10'000;
    const bool is_race = last_error_->kind() == ErrorKind::kConflict;
    if (waited_ms < next_word_ms_ || (is_race && waited_ms < kPauseMs)) return;
    next_word_ms_ = waited_ms + kPauseMs;
    obs::Log(obs::Level::kWarning, "commit is tried again",
             {{"pipeline", owner_.config_.pipeline_id},
              {"table", owner_.config_.table.ToString()},
              {"waited_ms", waited_ms},
              {"error", *last_error_}});
  }

  // Empty: try again after a wait.
  std::optional<CommitOutcome> Try() {
    auto loaded = owner_.catalog_->LoadTable(owner_.config_.table);
    if (!loaded.ok()) return LoadFailed(std::move(loaded).error());
    const LoadedTable& base = *loaded;
    store_ = base.store;
    back_off_.Bounds(*base.metadata);
    retry_limit_ms_ =
        NumberProperty(*base.metadata, "commit.retry.total-timeout-ms", owner_.config_.retry_limit_ms);
    auto progress = FindProgress(*base.metadata, owner_.config_.pipeline_id, owner_.config_.branch);
    if (!progress.ok()) {
      if (order_ == nullptr) return Reject(std::move(progress).error(), std::nullopt);
      progress = std::optional<Progress>{};  // an order mends what cannot be read
    }
    if (auto outcome = Inspect(base, *progress)) return outcome;
    return Submit(base, *progress);
  }

  std::optional<CommitOutcome> LoadFailed(Error error) {
    last_error_ = std::move(error).WithContext("table " + owner_.config_.table.ToString());
    if (last_error_->retry() == RetryHint::kYes) return std::nullopt;
    if (!doubts_.empty()) return std::nullopt;  // the answer that decides is still missing
    return Reject(*last_error_, std::nullopt);
  }

  // Looks at the state that would be replaced: is it still our table, did an earlier try land, does the batch
  // fit?
  std::optional<CommitOutcome> Inspect(const LoadedTable& base, const std::optional<Progress>& progress) {
    const TableMetadata& table = *base.metadata;
    if (!table_uuid_.empty() && table_uuid_ != table.table_uuid) {
      return Reject(
          Error(ErrorKind::kDataLoss, fmt::format("the table was replaced while we wrote: uuid {} became {}",
                                                  table_uuid_, table.table_uuid)),
          std::nullopt);
    }
    table_uuid_ = table.table_uuid;
    if (order_ != nullptr) return InspectOrder(base, progress);
    ranges_ = marker_ ? UnknownPartitions(progress) : batch_.ranges;
    if (marker_ && ranges_.empty())
      return AlreadyCommitted{base, HeadId(table, owner_.config_.branch).value_or(0)};
    commit_id_ = CommitId(owner_.config_.pipeline_id, table_uuid_, owner_.config_.branch, ranges_);
    if (progress && progress->commit_id == commit_id_ && !marker_)
      return AlreadyCommitted{base, progress->snapshot_id};
    const std::optional<int64_t> found = ResolveDoubts(table);
    // Whether a marker is in is seen by the positions alone: all start markers of a pipeline, whatever their
    // partitions, look the same in the history.
    if (found && !marker_) return AlreadyCommitted{base, *found};
    const record::Positions none;
    if (auto mismatch = CheckFence(progress ? progress->positions : none, ranges_)) {
      return Reject(Error(ErrorKind::kConflict, mismatch->ToString()), mismatch);
    }
    if (std::string why = WhyBatchDoesNotFit(table); !why.empty())
      return Reject(Error(ErrorKind::kConflict, std::move(why)), std::nullopt, /*altered=*/true);
    return std::nullopt;
  }

  // Another engine may have altered the table since the records were decoded. Empty: what it did does no
  // harm.
  std::string WhyBatchDoesNotFit(const TableMetadata& table) const {
    for (const iceberg::SchemaPtr& written : batch_.schemas) {
      std::string why = WhyRowsDoNotFit(*written, *table.schema(), table.format_version);
      if (!why.empty()) return why;
    }
    for (const iceberg::DataFile& file : batch_.files) {
      if (table.FindSpec(file.spec_id) == nullptr)
        return fmt::format("partition spec {} was removed", file.spec_id);
    }
    return {};
  }

  // An order holds for the state it was computed from, and for no other.
  std::optional<CommitOutcome> InspectOrder(const LoadedTable& base,
                                            const std::optional<Progress>& progress) {
    const TableMetadata& table = *base.metadata;
    const std::string& branch = owner_.config_.branch;
    if (commit_id_.empty()) commit_id_ = owner_.ids_.Uuid();
    if (progress && progress->commit_id == commit_id_) return AlreadyCommitted{base, progress->snapshot_id};
    if (const std::optional<int64_t> found = ResolveDoubts(table)) return AlreadyCommitted{base, *found};
    const std::string text = table.Property(ProgressKey(owner_.config_.pipeline_id, branch), "");
    const bool as_computed = table.table_uuid == order_->table_uuid &&
                             HeadId(table, branch) == order_->head && text == order_->progress;
    if (!as_computed) {
      return Reject(
          Error(ErrorKind::kConflict, "the table has moved on since the positions were computed")
              .WithRetry(RetryHint::kNo)
              .WithRemedy("Stop the pipeline or wait for the other writer, look again, and repeat."),
          std::nullopt);
    }
    ranges_ = OrderedMoves(progress);
    return std::nullopt;
  }

  // What the order moves, as `firn.ranges` tells it: from where the table stands; backwards where `to` is the
  // smaller.
  record::PositionRanges OrderedMoves(const std::optional<Progress>& progress) const {
    record::PositionRanges moves;
    for (const auto& [partition, position] : order_->positions) {
      const bool known = progress && progress->positions.contains(partition);
      const int64_t from = known ? progress->positions.at(partition).next : position.next;
      moves[partition] = {from, position.next, position.identity, position.last, position.cursor};
    }
    return moves;
  }

  // Whether the table has positions of every partition of the marker.
  bool IsKnown(const TableMetadata& table) const {
    auto progress = FindProgress(table, owner_.config_.pipeline_id, owner_.config_.branch);
    return progress.ok() && UnknownPartitions(*progress).empty();
  }

  // Start positions of the partitions that the table does not know.
  record::PositionRanges UnknownPartitions(const std::optional<Progress>& progress) const {
    record::PositionRanges unknown;
    for (const auto& [partition, range] : batch_.ranges) {
      if (!progress || !progress->positions.contains(partition)) unknown.emplace(partition, range);
    }
    return unknown;
  }

  // The snapshot of an earlier try of ours, when the history shows one. Doubts that the history settles are
  // dropped.
  std::optional<int64_t> ResolveDoubts(const TableMetadata& table) {
    std::optional<int64_t> found;
    std::erase_if(doubts_, [&](const Doubt& doubt) {
      auto search = FindCommit(table, owner_.config_.branch, owner_.config_.pipeline_id, doubt.commit_id,
                               doubt.pinned_parent);
      if (const auto* hit = std::get_if<CommitFound>(&search)) found = hit->snapshot_id;
      return std::holds_alternative<CommitAbsent>(search);
    });
    return found;
  }

  std::optional<CommitOutcome> Submit(const LoadedTable& base, const std::optional<Progress>& progress) {
    ++tries_;
    auto commit = BuildCommit(base, progress);
    if (!commit.ok()) return BuildFailed(std::move(commit).error(), *base.metadata);
    if (auto status = BeforeRequest(); !status.ok())
      return BuildFailed(std::move(status).error(), *base.metadata);
    CatalogCommitResult result = owner_.catalog_->CommitTable(*commit);
    const std::optional<int64_t> parent = HeadId(*base.metadata, owner_.config_.branch);
    return std::visit([&](auto& answer) { return OnAnswer(answer, parent); }, result);
  }

  std::optional<CommitOutcome> OnAnswer(iceberg::CommitDone& done, std::optional<int64_t> /*parent*/) {
    Ignore(AfterAnswer());  // a kill point; an injected error changes nothing about what was committed
    RemoveUnused(*done.table.metadata);
    return Committed{std::move(done.table), snapshot_id_, epoch_, tries_, valid_through_ms_};
  }
  std::optional<CommitOutcome> OnAnswer(iceberg::CommitConflict& conflict, std::optional<int64_t> parent) {
    last_error_ = std::move(conflict.error);
    if (conflict.may_be_echo) AddDoubt(parent, /*refused=*/true);
    return std::nullopt;
  }
  std::optional<CommitOutcome> OnAnswer(iceberg::CommitUnknown& unknown, std::optional<int64_t> parent) {
    last_error_ = std::move(unknown.error);
    AddDoubt(parent, /*refused=*/false);
    return std::nullopt;
  }
  std::optional<CommitOutcome> OnAnswer(iceberg::CommitRejected& rejected, std::optional<int64_t> parent) {
    if (rejected.may_have_passed) AddDoubt(parent, /*refused=*/true);
    if (rejected.error.retry() == RetryHint::kYes) {
      last_error_ = std::move(rejected.error);
      return std::nullopt;
    }
    if (auto outcome = LastLook()) return outcome;
    return Reject(std::move(rejected.error), std::nullopt);
  }

  void AddDoubt(std::optional<int64_t> parent, bool refused) {
    doubts_.push_back({commit_id_, parent, refused});
    doubted_ = true;
  }

  std::optional<CommitOutcome> BuildFailed(Error error, const TableMetadata& base) {
    last_error_ = std::move(error);
    if (last_error_->retry() == RetryHint::kYes) return std::nullopt;
    // Somebody may have moved the head on and expired the one that we loaded: a lost race. Files that are
    // missing under the same head once more are missing for good.
    const std::optional<int64_t> head = HeadId(base, owner_.config_.branch);
    if (last_error_->kind() == ErrorKind::kNotFound && std::exchange(missing_under_, head) != head)
      return std::nullopt;
    return Reject(*last_error_, std::nullopt);
  }

  Result<iceberg::TableCommit> BuildCommit(const LoadedTable& base, const std::optional<Progress>& progress) {
    const TableMetadata& table = *base.metadata;
    const std::string& branch = owner_.config_.branch;
    Progress next;
    next.table_uuid = table.table_uuid;
    next.branch = branch;
    next.epoch = marker_ ? (progress ? progress->epoch : 0) : (progress ? progress->epoch : 0) + 1;
    next.commit_id = commit_id_;
    next.positions = order_ != nullptr
                         ? order_->positions
                         : Advance(progress ? progress->positions : record::Positions{}, ranges_);
    epoch_ = next.epoch;
    valid_through_ms_ = 0;
    for (const EndObservation& observation : batch_.observed) {
      if (ReachedEnds(observation, next.positions)) valid_through_ms_ = observation.time_ms;
    }
    FIRN_TRY(PrepareBuilder(base));
    builder_->SetSummary(Summary(next));
    FIRN_ASSIGN_CTX(auto built, builder_->Build(table, tries_, owner_.clock_.NowMs()),
                    "table " + owner_.config_.table.ToString());
    next.snapshot_id = snapshot_id_;
    next.sequence_number = built.snapshot.sequence_number;

    iceberg::TableCommit commit{
        base, {}, std::move(built.updates), owner_.ids_.UuidV7(owner_.clock_.NowMs())};
    commit.updates.emplace_back(iceberg::update::SetProperties{
        {{ProgressKey(owner_.config_.pipeline_id, branch), EncodeProgress(next)}}});
    if (Maintained(table)) {
      for (Update& update : iceberg::PlanExpiry(table, built.snapshot.timestamp_ms, /*keep_refs=*/true)) {
        commit.updates.push_back(std::move(update));
      }
    }
    commit.requirements = {iceberg::requirement::TableUuid{table.table_uuid},
                           iceberg::requirement::RefSnapshotId{branch, HeadId(table, branch)},
                           iceberg::requirement::CurrentSchemaId{table.current_schema_id},
                           iceberg::requirement::DefaultSpecId{table.default_spec_id}};
    return commit;
  }

  // The builder lives through all tries, so that manifests are written once; a snapshot id that the table has
  // meanwhile is replaced with it.
  Status PrepareBuilder(const LoadedTable& base) {
    if (builder_) return Ok();
    do {
      snapshot_id_ = owner_.ids_.SnapshotId();
    } while (base.metadata->FindSnapshot(snapshot_id_) != nullptr);
    iceberg::AppendContent content;
    content.files = batch_.files;
    content.branch = owner_.config_.branch;
    content.snapshot_id = snapshot_id_;
    content.commit_uuid = owner_.ids_.Uuid();
    builder_ = std::make_unique<iceberg::AppendBuilder>(base.store, std::move(content));
    return Ok();
  }

  std::map<std::string, std::string> Summary(const Progress& next) const {
    std::map<std::string, std::string> summary = {{kSummaryPipeline, owner_.config_.pipeline_id},
                                                  {kSummaryCommitId, commit_id_},
                                                  {kSummaryEpoch, std::to_string(next.epoch)},
                                                  {kSummaryRanges, EncodeRanges(ranges_, next.positions)}};
    if (valid_through_ms_ > 0) summary[kSummaryValidThrough] = FormatInstantMs(valid_through_ms_);
    if (order_ != nullptr) summary[kSummaryOperator] = order_->mark;
    return summary;
  }

  CommitOutcome Reject(Error error, std::optional<FenceMismatch> fence, bool altered = false) {
    if (doubts_.empty()) RemoveAllFiles();
    return Rejected{std::move(error), std::move(fence), altered};
  }

  CommitOutcome GiveUp(Error error) {
    if (error.kind() != ErrorKind::kCancelled) {
      if (auto outcome = LastLook()) return *std::move(outcome);
    }
    if (!doubts_.empty() || error.kind() == ErrorKind::kCancelled) {
      return UnknownOutcome{std::move(error), AllFiles()};
    }
    RemoveAllFiles();
    return ConflictExhausted{std::move(error)};
  }

  // The table as it is now may settle what is in doubt.
  std::optional<CommitOutcome> LastLook() {
    if (doubts_.empty()) return std::nullopt;
    auto loaded = owner_.catalog_->LoadTable(owner_.config_.table);
    if (!loaded.ok() || loaded->metadata->table_uuid != table_uuid_) return std::nullopt;
    auto found = ResolveDoubts(*loaded->metadata);
    if (!found || (marker_ && !IsKnown(*loaded->metadata))) return std::nullopt;
    return AlreadyCommitted{*std::move(loaded), *found};
  }

  std::vector<std::string> AllFiles() const {
    std::vector<std::string> files;
    for (const iceberg::DataFile& file : batch_.files) files.push_back(file.file_path);
    if (builder_) files.insert(files.end(), builder_->written().begin(), builder_->written().end());
    return files;
  }

  // Files of the batch that was definitely not applied: refused or lost, and no try of it is in doubt.
  void RemoveAllFiles() {
    if (store_ == nullptr) return;
    store::AttemptFiles files(store_);
    for (std::string& file : AllFiles()) files.Record(std::move(file));
    // What could not be removed is unreferenced and found by the aged scan.
    std::ignore = files.Delete(tries_ == 0 ? store::DefinitelyRejected::NeverSubmitted()
                                           : (doubted_ ? store::DefinitelyRejected::ByCompleteWalk()
                                                       : store::DefinitelyRejected::ByCatalog()));
  }

  // Lists of lost tries. With a try in doubt they stay, though the head has moved: cheap, and nobody has to
  // argue about it.
  void RemoveUnused(const TableMetadata& table) {
    const iceberg::Snapshot* snapshot = table.FindSnapshot(snapshot_id_);
    if (!doubts_.empty() || snapshot == nullptr) return;
    store::AttemptFiles files(store_);
    for (const std::string& file : builder_->written()) files.Record(file);
    std::ignore = files.Committed(builder_->UnusedAfterCommit(*snapshot));
  }

  Committer& owner_;
  const TableBatch& batch_;
  const bool marker_;
  const PositionsOrder* const order_;
  std::stop_token abort_;
  BackOff back_off_;
  int64_t retry_limit_ms_;
  std::shared_ptr<store::Store> store_;
  std::unique_ptr<iceberg::AppendBuilder> builder_;
  record::PositionRanges ranges_;
  std::string table_uuid_;
  std::string commit_id_;
  int64_t snapshot_id_ = 0;
  int64_t epoch_ = 0;
  int tries_ = 0;
  int64_t valid_through_ms_ = 0;
  std::vector<Doubt> doubts_;
  bool doubted_ = false;                  ///< some try was in doubt, even if the history has settled it since
  std::optional<int64_t> missing_under_;  ///< the head whose files were not there
  std::optional<Error> last_error_;
  int64_t next_word_ms_ = 0;
};

Committer::Committer(std::shared_ptr<iceberg::Catalog> catalog, CommitterConfig config, runtime::Clock& clock,
                     runtime::IdSource& ids)
    : catalog_(std::move(catalog)), config_(std::move(config)), clock_(clock), ids_(ids) {}

CommitOutcome Committer::CommitBatch(const TableBatch& batch, std::stop_token abort) {
  return Attempt(*this, batch, /*marker=*/false, std::move(abort)).Run();
}

std::optional<Rejected> Committer::Foresee(const TableBatch& batch) {
  return Attempt(*this, batch, /*marker=*/false, {}).Foresee();
}

void Committer::RemoveUnsubmitted(const TableBatch& batch, const std::shared_ptr<store::Store>& store) {
  if (store == nullptr) return;
  store::AttemptFiles files(store);
  for (const iceberg::DataFile& file : batch.files) files.Record(file.file_path);
  std::ignore = files.Delete(store::DefinitelyRejected::NeverSubmitted());
}

CommitOutcome Committer::CommitStart(const record::Positions& start, std::stop_token abort) {
  TableBatch batch;
  for (const auto& [partition, position] : start) {
    batch.ranges.emplace(partition, record::PositionRange{position.next, position.next, position.identity,
                                                          std::nullopt, position.cursor});
  }
  return Attempt(*this, batch, /*marker=*/true, std::move(abort)).Run();
}

CommitOutcome Committer::CommitOrder(const PositionsOrder& order, std::stop_token abort) {
  const TableBatch nothing;
  return Attempt(*this, nothing, /*marker=*/false, std::move(abort), &order).Run();
}

Result<LoadedTable> Committer::Change(const PlanChange& plan, std::stop_token abort) {
  BackOff back_off(clock_, ids_);
  const int64_t begin_ns = clock_.MonotonicNs();
  for (;;) {
    auto base = catalog_->LoadTable(config_.table);
    Error error(ErrorKind::kInternal, "");
    if (base.ok()) {
      FIRN_ASSIGN(auto updates, plan(*base->metadata));
      if (updates.empty()) return std::move(base).value();
      const TableMetadata& table = *base->metadata;
      iceberg::TableCommit commit{*base, {}, std::move(updates), ids_.UuidV7(clock_.NowMs())};
      commit.requirements = {iceberg::requirement::TableUuid{table.table_uuid},
                             iceberg::requirement::CurrentSchemaId{table.current_schema_id},
                             iceberg::requirement::LastAssignedFieldId{table.last_column_id}};
      back_off.Bounds(table);
      CatalogCommitResult result = catalog_->CommitTable(commit);
      if (auto* done = std::get_if<iceberg::CommitDone>(&result)) return std::move(done->table);
      if (auto* rejected = std::get_if<iceberg::CommitRejected>(&result)) error = std::move(rejected->error);
      // Lost race or no answer: the plan looks at the new state and finds out whether something is left to
      // do.
      if (auto* conflict = std::get_if<iceberg::CommitConflict>(&result)) error = std::move(conflict->error);
      if (auto* unknown = std::get_if<iceberg::CommitUnknown>(&result)) {
        error = std::move(unknown->error).WithRetry(RetryHint::kYes);
      }
    } else {
      error = std::move(base).error();
    }
    const int64_t waited_ms = (clock_.MonotonicNs() - begin_ns) / 1'000'000;
    if (error.retry() == RetryHint::kNo || waited_ms > config_.retry_limit_ms || !back_off.Wait(abort)) {
      return std::move(error).WithContext("change of table " + config_.table.ToString());
    }
  }
}

}  // namespace firn::commit
