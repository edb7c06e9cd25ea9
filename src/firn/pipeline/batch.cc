#include "firn/pipeline/batch.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "firn/commit/protocol/shared_read.h"

namespace firn::pipeline {

namespace {

constexpr int64_t kLetterShare = 16;  // of the memory limit
constexpr int64_t kMaxLetterBytes = int64_t{64} << 20;

}  // namespace

int64_t MaxLetterBytes(const runtime::MemoryBudget& memory) {
  return std::min(kMaxLetterBytes, memory.limit_bytes() / kLetterShare);
}

Status BatchPart::Merge(BatchPart&& other) {
  for (const auto& [partition, range] : other.taken) FIRN_TRY(commit::JoinTaken(taken, partition, range));
  unsettled.merge(other.unsettled);
  schemas.merge(other.schemas);
  std::ranges::move(other.writers, std::back_inserter(writers));
  std::ranges::move(other.dead_letters, std::back_inserter(dead_letters));
  if (store == nullptr) store = std::move(other.store);
  dead_letter_memory.Merge(std::move(other.dead_letter_memory));
  records += other.records;
  rows += other.rows;
  input_bytes += other.input_bytes;
  bad_records += other.bad_records;
  skipped += other.skipped;
  tombstones_skipped += other.tombstones_skipped;
  unknown_fields_ignored += other.unknown_fields_ignored;
  oldest_timestamp_ms = std::min(oldest_timestamp_ms, other.oldest_timestamp_ms);
  other = BatchPart{};
  return Ok();
}

std::vector<std::string> BatchPart::Discard() {
  std::vector<std::string> left;
  for (auto& writer : writers) std::ranges::move(writer->Discard(), std::back_inserter(left));
  *this = BatchPart{};
  return left;
}

}  // namespace firn::pipeline
