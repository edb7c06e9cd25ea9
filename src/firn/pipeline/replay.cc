#include "firn/pipeline/replay.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "firn/pipeline/letter_book.h"
#include "firn/pipeline/replay_ledger.h"
#include "firn/write/dead_letter_reader.h"

namespace firn::pipeline {

namespace {

using record::DeadLetter;
using record::SourcePartition;

/// One call of replay.
class Replay {
 public:
  Replay(const PipelineSetup& setup, const ReplayDeps& deps, std::stop_token stop, std::stop_token abort)
      : setup_(setup),
        deps_(deps),
        sink_(deps.dead_letter_catalog, setup.config.dead_letters, setup.config.id, *deps.clock, *deps.ids,
              nullptr),
        ledger_(sink_, setup.config.id),
        stop_(std::move(stop)),
        abort_(std::move(abort)) {}

  Result<ReplayResult> Run() {
    FIRN_TRY(CheckSource());
    FIRN_ASSIGN(ReplayLedger::State state, ledger_.Load());
    if (state.open) {
      result_.resumed = true;
      FIRN_TRY(Finish(state));
    }
    // What comes back as a new letter is not sent again in this call: offsets only grow.
    FIRN_ASSIGN(const iceberg::LoadedTable table, sink_.Load());
    FIRN_ASSIGN(const LetterBook book, LetterBook::Read(table, std::nullopt, /*payload=*/true));
    for (const record::PositionRanges& ranges : Portions(book)) {
      FIRN_ASSIGN(state, ledger_.Load());
      if (!state.open) {
        FIRN_ASSIGN(const int64_t head, Head());
        FIRN_ASSIGN(state, ledger_.Open(state, {head, ranges}, abort_));
      }
      FIRN_TRY(Finish(state));
    }
    return result_;
  }

 private:
  Status CheckSource() const {
    if (!setup_.source.of_files || setup_.decoder.format == "json") return Ok();
    return Error(
               ErrorKind::kUnsupported,
               fmt::format(
                   "letters of {} files cannot be replayed: what the files tell of their records is not kept "
                   "with each letter",
                   setup_.decoder.format))
        .WithDomain(ErrorDomain::kUser)
        .WithRemedy("Mend the files and put them into the folder under new names.");
  }

  Result<int64_t> Head() {
    FIRN_ASSIGN(const iceberg::LoadedTable table, sink_.Load());
    const iceberg::Snapshot* head = table.metadata->Head(iceberg::kMainBranch);
    if (head == nullptr)
      return Error(ErrorKind::kInternal, "a dead-letter table with letters has no snapshot");
    return head->snapshot_id;
  }

  // Stretches of offsets whose letters fit the limits together.
  std::vector<record::PositionRanges> Portions(const LetterBook& book) {
    std::vector<record::PositionRanges> portions;
    int64_t bytes = 0;
    int64_t count = 0;
    for (const auto& [partition, offsets] : book.entries()) {
      for (const auto& [offset, entry] : offsets) {
        if (!entry.waits()) continue;
        if (!entry.has_payload) {
          ++result_.without_payload;
          continue;
        }
        const bool full = bytes + entry.bytes > deps_.limits.bytes || count >= deps_.limits.letters;
        if (portions.empty() || (full && count > 0)) {
          portions.emplace_back();
          bytes = count = 0;
        }
        bytes += entry.bytes;
        ++count;
        auto [range, added] =
            portions.back().try_emplace(partition, record::PositionRange{offset, offset, {}, std::nullopt});
        range->second.to = offset + 1;
      }
    }
    return portions;
  }

  // Brings the open replay to its end.
  Status Finish(const ReplayLedger::State& state) {
    FIRN_ASSIGN(const auto letters, LettersOf(*state.open));
    if (!letters->empty()) FIRN_TRY(Send(state, letters));
    std::vector<DeadLetter> sent;
    for (const auto& [partition, of_partition] : *letters) {
      for (const DeadLetter& letter : of_partition) sent.push_back(letter);
    }
    FIRN_TRY(ledger_.Close(state, sent, abort_));
    result_.letters += static_cast<int64_t>(sent.size());
    return Ok();
  }

  Result<std::shared_ptr<const LettersByPartition>> LettersOf(const ReplayPlan& plan) {
    FIRN_ASSIGN(const iceberg::LoadedTable table, sink_.Load());
    if (table.metadata->FindSnapshot(plan.snapshot_id) == nullptr) {
      return Error(ErrorKind::kDataLoss,
                   fmt::format(
                       "a replay was cut off, and snapshot {} of {}, which says what it sends, has expired",
                       plan.snapshot_id, sink_.context()))
          .WithRemedy(
              "Name a new dead-letter table; the letters of this one can be read with 'firn table read'.");
    }
    FIRN_ASSIGN(const LetterBook book, LetterBook::Read(table, plan.snapshot_id, /*payload=*/false));
    std::map<SourcePartition, std::map<int64_t, DeadLetter>> found;
    const auto take = [&](write::StoredLetter stored) {
      const DeadLetter& letter = stored.letter;
      const auto range = plan.ranges.find(letter.partition);
      const bool inside = range != plan.ranges.end() && letter.offset >= range->second.from &&
                          letter.offset < range->second.to;
      if (inside && HasPayload(letter) && book.Waits(stored))
        found[letter.partition].insert_or_assign(letter.offset, std::move(stored.letter));
      return Ok();
    };
    FIRN_TRY(write::ReadLetters(table.metadata, table.store,
                                {.payload = true, .snapshot_id = plan.snapshot_id}, take));
    auto letters = std::make_shared<LettersByPartition>();
    for (auto& [partition, by_offset] : found) {
      for (auto& [offset, letter] : by_offset) (*letters)[partition].push_back(std::move(letter));
    }
    return std::shared_ptr<const LettersByPartition>(std::move(letters));
  }

  // A run of the pipeline over these letters, under the replay's own identity.
  Status Send(const ReplayLedger::State& state, const std::shared_ptr<const LettersByPartition>& letters) {
    FIRN_ASSIGN(const iceberg::LoadedTable table, sink_.Load());
    PipelineSetup run = setup_;
    run.config.id = state.ReplayId(setup_.config.id);
    run.config.on_bad_record = BadRecordPolicy::kDeadLetter;
    run.config.dead_letters.fail_above_ratio = 1.0;
    run.source.make = [letters, cluster = "letters of " + table.metadata->table_uuid,
                       clock = deps_.clock](const SourceParts& parts) {
      return Result<std::unique_ptr<source::Source>>(
          std::make_unique<LetterSource>(letters, cluster, parts.lanes, *clock));
    };
    RunOptions options;
    options.until_caught_up = true;
    options.first_run = true;  // its own positions decide once it has any
    FIRN_ASSIGN(const auto pipeline, deps_.make_pipeline(run));
    const PipelineResult ended = pipeline->Run(options, stop_, abort_);
    if (ended.end == PipelineEnd::kDone && !stop_.stop_requested()) {
      result_.bad_again += pipeline->status().dead_letters;
      return Ok();
    }
    return NotDone(ended);
  }

  static Error NotDone(const PipelineResult& ended) {
    ErrorKind kind = ErrorKind::kUnavailable;
    if (ended.end == PipelineEnd::kDataStop) kind = ErrorKind::kDataLoss;
    if (ended.end == PipelineEnd::kUserError) kind = ErrorKind::kInvalidArgument;
    if (ended.end == PipelineEnd::kInterrupted || ended.end == PipelineEnd::kDone)
      kind = ErrorKind::kCancelled;
    return Error(kind, ended.message.empty() ? "stopped before all letters were sent" : ended.message)
        .WithRetry(RetryHint::kNo)
        .WithRemedy("Nothing is lost or doubled: the same command goes on where this one ended.");
  }

  const PipelineSetup& setup_;
  const ReplayDeps& deps_;
  DeadLetterSink sink_;
  ReplayLedger ledger_;
  std::stop_token stop_;
  std::stop_token abort_;
  ReplayResult result_;
};

}  // namespace

Result<ReplayResult> ReplayDeadLetters(const PipelineSetup& setup, const ReplayDeps& deps,
                                       std::stop_token stop, std::stop_token abort) {
  return Replay(setup, deps, std::move(stop), std::move(abort)).Run();
}

}  // namespace firn::pipeline
