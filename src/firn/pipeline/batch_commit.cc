#include "firn/pipeline/batch_commit.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "firn/runtime/fault_point.h"

namespace firn::pipeline {

namespace {

int64_t ElapsedMs(const runtime::Clock& clock, int64_t since_ns) {
  return (clock.MonotonicNs() - since_ns) / 1'000'000;
}

std::vector<iceberg::SchemaPtr> SchemasOf(const BatchPart& part) {
  std::vector<iceberg::SchemaPtr> schemas;
  for (const auto& [id, schema] : part.schemas) schemas.push_back(schema);
  return schemas;
}

BatchReport Counts(const BatchPart& part) {
  BatchReport report;
  report.records = part.records;
  report.rows = part.rows;
  report.input_bytes = part.input_bytes;
  report.dead_letters = static_cast<int64_t>(part.dead_letters.size());
  for (const record::DeadLetter& letter : part.dead_letters) ++report.dead_letters_by_reason[letter.reason];
  report.skipped = part.skipped;
  report.tombstones_skipped = part.tombstones_skipped;
  report.unknown_fields_ignored = part.unknown_fields_ignored;
  return report;
}

Result<std::vector<iceberg::DataFile>> FinishFiles(BatchPart& part, runtime::Executor& io) {
  FIRN_FAULT_POINT(batch_before_finish);
  std::vector<std::vector<iceberg::DataFile>> finished(part.writers.size());
  runtime::TaskGroup group(io);
  for (size_t i = 0; i < part.writers.size(); ++i) {
    group.Add([&writer = *part.writers[i], &files = finished[i]]() -> Status {
      FIRN_ASSIGN(files, writer.Finish());
      return Ok();
    });
  }
  Status status = group.Wait();
  FIRN_TRY(status);
  std::vector<iceberg::DataFile> files;
  for (auto& some : finished) std::ranges::move(some, std::back_inserter(files));
  FIRN_FAULT_POINT(batch_after_finish);
  return files;
}

Status AfterLetters() {
  FIRN_FAULT_POINT(dead_letters_after_commit);
  return Ok();
}

// The letters of all lanes, each partition's in offset order.
void SortLetters(std::vector<record::DeadLetter>& letters) {
  std::ranges::stable_sort(letters, {}, [](const record::DeadLetter& letter) {
    return std::tie(letter.partition, letter.offset);
  });
}

// A courtesy to people: an answer that does not come is no failure of the batch.
std::optional<int64_t> MetadataBytes(const commit::CommitOutcome& outcome, bool ask) {
  const iceberg::LoadedTable* table = nullptr;
  if (const auto* committed = std::get_if<commit::Committed>(&outcome)) table = &committed->table;
  if (const auto* already = std::get_if<commit::AlreadyCommitted>(&outcome)) table = &already->table;
  if (table == nullptr) return std::nullopt;
  if (table->metadata_bytes || !ask) return table->metadata_bytes;
  const auto info = table->store->Head(table->metadata_location);
  return info.ok() ? std::optional(info->size_bytes) : std::nullopt;
}

}  // namespace

BatchReport CommitPart(BatchPart part, const record::PositionRanges& ranges,
                       const std::vector<commit::EndObservation>& observed, const BatchCommitContext& context,
                       const std::stop_token& abort) {
  BatchReport report = Counts(part);
  report.ranges = ranges;
  const int64_t begin_ns = context.clock->MonotonicNs();
  auto files = FinishFiles(part, *context.io);
  report.finish_ms = ElapsedMs(*context.clock, begin_ns);
  if (!files.ok()) {
    part.Discard();
    report.failed = std::move(files).error();
    return report;
  }
  const int64_t commit_ns = context.clock->MonotonicNs();
  commit::TableBatch batch{ranges, std::move(files).value(), observed, SchemasOf(part)};
  report.data_files = static_cast<int64_t>(batch.files.size());
  for (const iceberg::DataFile& file : batch.files) report.data_file_bytes += file.file_size_bytes;
  if (!part.dead_letters.empty()) {
    // Letters of a batch that is read again may be rows then.
    if (auto refused = context.committer ? context.committer->Foresee(batch) : std::nullopt) {
      report.outcome = *std::move(refused);
      return report;
    }
    SortLetters(part.dead_letters);
    Status letters = context.control->WriteLetters(context.letters_id, part.dead_letters, ranges, abort);
    if (letters.ok()) letters = AfterLetters();
    if (!letters.ok()) {
      commit::Committer::RemoveUnsubmitted(batch, part.store);
      report.failed = std::move(letters).error();
      report.letters_failed = true;
      return report;
    }
  }
  if (context.committer != nullptr) report.outcome = context.committer->CommitBatch(batch, abort);
  report.commit_ms = ElapsedMs(*context.clock, commit_ns);
  if (report.outcome) report.metadata_bytes = MetadataBytes(*report.outcome, context.asks_metadata_size);
  return report;
}

}  // namespace firn::pipeline
