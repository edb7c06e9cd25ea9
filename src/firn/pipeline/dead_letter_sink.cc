#include "firn/pipeline/dead_letter_sink.h"

#include <algorithm>
#include <climits>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "firn/commit/protocol/progress.h"
#include "firn/obs/log.h"
#include "firn/pipeline/table_setup.h"
#include "firn/record/schema_delta.h"
#include "firn/route/evolver.h"
#include "firn/runtime/retry.h"
#include "firn/write/dead_letter_rows.h"
#include "firn/write/writer.h"

namespace firn::pipeline {

namespace {

constexpr int kMaxRounds = 10;
constexpr size_t kMaxRowsAtOnce = 10'000;
constexpr size_t kMaxBytesAtOnce = size_t{4} << 20;

/// How many of the first letters become rows together: they take their memory once more.
size_t RowsAtOnce(std::span<const record::DeadLetter* const> letters) {
  size_t bytes = 0;
  size_t count = 0;
  while (count < std::min(letters.size(), kMaxRowsAtOnce) && bytes < kMaxBytesAtOnce) {
    bytes += record::PayloadBytes(*letters[count++]);
  }
  return count;
}

// As long as a commit is tried.
constexpr runtime::RetryPolicy kCatalogAway{
    .max_attempts = INT_MAX, .max_backoff_ms = 10'000, .max_elapsed_ms = commit::kRetryLimitMs};

Error OutcomeError(const commit::CommitOutcome& outcome) {
  if (const auto* rejected = std::get_if<commit::Rejected>(&outcome)) return rejected->error;
  if (const auto* conflict = std::get_if<commit::ConflictExhausted>(&outcome)) return conflict->error;
  return commit::StopOnUnknown(std::get<commit::UnknownOutcome>(outcome));
}

}  // namespace

DeadLetterSink::DeadLetterSink(std::shared_ptr<iceberg::Catalog> catalog, DeadLetterConfig config,
                               std::string pipeline_id, runtime::Clock& clock, runtime::IdSource& ids,
                               arrow::MemoryPool* pool)
    : catalog_(std::move(catalog)),
      config_(std::move(config)),
      pipeline_id_(std::move(pipeline_id)),
      clock_(clock),
      ids_(ids),
      pool_(pool) {}

Status DeadLetterSink::Write(const std::string& letters_id, const std::vector<record::DeadLetter>& letters,
                             const record::PositionRanges& ranges, const std::stop_token& abort) {
  const std::string context = this->context();
  // The catalog may be away: the committer waits for it by itself, but the looks at the table before do not.
  const auto patiently = [&](const auto& look) {
    return runtime::Retry(kCatalogAway, clock_, ids_, abort, look, [&](const Error& error, int, int64_t ms) {
      obs::Log(obs::Level::kWarning, "dead letters wait for their table's catalog",
               {{"pipeline", pipeline_id_}, {"error", error}, {"pause_ms", ms}});
    });
  };
  FIRN_ASSIGN_CTX(commit::Committer * committer, patiently([&] { return CommitterOf(letters_id); }), context);
  for (int round = 0; round < kMaxRounds; ++round) {
    FIRN_ASSIGN(const auto table, patiently([&] { return Load(); }));
    FIRN_ASSIGN_CTX(auto batch, Stage(table, letters_id, letters, ranges), context);
    if (batch.ranges.empty()) return Ok();
    commit::CommitOutcome outcome = committer->CommitBatch(batch, abort);
    if (std::holds_alternative<commit::Committed>(outcome) ||
        std::holds_alternative<commit::AlreadyCommitted>(outcome))
      return Ok();
    // The fence refused: somebody else set letters of these partitions aside meanwhile. Look again at what is
    // in.
    const auto* rejected = std::get_if<commit::Rejected>(&outcome);
    if (rejected == nullptr || !rejected->fence) return OutcomeError(outcome).WithContext(context);
  }
  return Error(ErrorKind::kConflict, "other processes keep writing letters of the same partitions")
      .WithContext(context);
}

Result<iceberg::LoadedTable> DeadLetterSink::Load() const {
  auto table = catalog_->LoadTable(Identifier(config_.table));
  if (!table.ok()) return std::move(table).error().WithContext(context());
  return table;
}

Result<commit::Committer*> DeadLetterSink::CommitterOf(const std::string& id) {
  if (const auto found = committers_.find(id); found != committers_.end()) return found->second.get();
  TableConfig table;
  table.name = config_.table;
  table.partition_by = {"day(arrival_time)"};
  FIRN_ASSIGN(auto opened, OpenOrCreateTable(*catalog_, table, ids_, [] {
                return Result<iceberg::SchemaPtr>(write::DeadLetterSchema());
              }));
  commit::CommitterConfig config;
  config.table = Identifier(config_.table);
  config.pipeline_id = id;
  auto committer = std::make_unique<commit::Committer>(catalog_, std::move(config), clock_, ids_);
  FIRN_TRY(AddMissingColumns(*committer, *opened.table.metadata->schema()));
  return committers_.emplace(id, std::move(committer)).first->second.get();
}

Result<std::vector<iceberg::DataFile>> DeadLetterSink::StageRows(
    const std::vector<record::DeadLetter>& letters) {
  FIRN_ASSIGN(const auto table, Load());
  std::vector<const record::DeadLetter*> all;
  for (const record::DeadLetter& letter : letters) all.push_back(&letter);
  return WriteFiles(table, all);
}

// A table that a former version made has fewer columns.
Status DeadLetterSink::AddMissingColumns(commit::Committer& committer, const iceberg::Schema& schema) {
  record::SchemaDelta delta;
  const iceberg::SchemaPtr own = write::DeadLetterSchema();
  for (const iceberg::NestedField& field : own->fields()) {
    const bool is_new = field.name == "file" || field.name == "line";
    if (is_new && schema.as_struct()->FindField(field.name) == nullptr)
      delta.added.push_back({0, field.name, field.type, field.doc});
  }
  if (delta.empty()) return Ok();
  const auto plan = [&](const iceberg::TableMetadata& table) -> Result<std::vector<iceberg::Update>> {
    auto evolved = route::Evolve(delta, table, {record::Evolution::kAdd});
    auto* change = std::get_if<route::Change>(&evolved);
    return change == nullptr ? std::vector<iceberg::Update>{} : std::move(change->updates);
  };
  FIRN_TRY(committer.Change(plan, {}));
  return Ok();
}

// Letters that the table does not hold yet, in a file, with the ranges they move its positions by.
Result<commit::TableBatch> DeadLetterSink::Stage(const iceberg::LoadedTable& table,
                                                 const std::string& letters_id,
                                                 const std::vector<record::DeadLetter>& letters,
                                                 const record::PositionRanges& ranges) {
  FIRN_ASSIGN(auto progress, commit::FindProgress(*table.metadata, letters_id, iceberg::kMainBranch));
  std::vector<const record::DeadLetter*> missing;
  commit::TableBatch batch;
  for (const record::DeadLetter& letter : letters) {
    int64_t at = letter.offset;
    if (progress) {
      auto position = progress->positions.find(letter.partition);
      if (position != progress->positions.end()) at = position->second.next;
    }
    if (letter.offset < at) continue;
    auto [range, inserted] =
        batch.ranges.try_emplace(letter.partition, record::PositionRange{at, at, {}, std::nullopt});
    if (auto source = ranges.find(letter.partition); inserted && source != ranges.end())
      range->second.identity = source->second.identity;
    range->second.to = letter.offset + 1;
    missing.push_back(&letter);
  }
  if (missing.empty()) return batch;
  FIRN_ASSIGN(batch.files, WriteFiles(table, missing));
  return batch;
}

Result<std::vector<iceberg::DataFile>> DeadLetterSink::WriteFiles(
    const iceberg::LoadedTable& table, std::span<const record::DeadLetter* const> letters) {
  const int64_t arrival_ms = clock_.NowMs();
  write::WriterContext context;
  context.table = table.metadata;
  context.store = table.store;
  context.pool = pool_;
  context.operation_id = ids_.Uuid();
  FIRN_ASSIGN(auto writer, write::MakeTableWriter(std::move(context)));
  const auto append = [&](std::span<const record::DeadLetter* const> some) -> Status {
    FIRN_ASSIGN(const auto rows, write::DeadLetterRows(some, pipeline_id_, arrival_ms, config_.keep_payload,
                                                       *table.metadata->schema(), pool_));
    return writer->Append(rows);
  };
  while (!letters.empty()) {
    const size_t count = RowsAtOnce(letters);
    if (Status appended = append(letters.first(count)); !appended.ok()) {
      // An unreferenced file that cannot be removed is found by the aged scan.
      std::ignore = writer->Discard();
      return std::move(appended).error();
    }
    letters = letters.subspan(count);
  }
  return writer->Finish();
}

}  // namespace firn::pipeline
