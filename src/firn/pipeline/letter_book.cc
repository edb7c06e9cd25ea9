#include "firn/pipeline/letter_book.h"

#include "firn/decode/reasons.h"

namespace firn::pipeline {

bool HasPayload(const record::DeadLetter& letter) {
  return letter.value.has_value() || letter.reason == decode::reason::kTombstone;
}

Result<LetterBook> LetterBook::Read(const iceberg::LoadedTable& table, std::optional<int64_t> snapshot_id,
                                    bool payload) {
  LetterBook book;
  FIRN_TRY(write::ReadLetters(table.metadata, table.store, {.payload = payload, .snapshot_id = snapshot_id},
                              [&book](const write::StoredLetter& stored) {
                                book.Take(stored);
                                return Ok();
                              }));
  return book;
}

void LetterBook::Take(const write::StoredLetter& stored) {
  const record::DeadLetter& letter = stored.letter;
  Entry& entry = entries_[letter.partition][letter.offset];
  if (stored.is_mark()) {
    --entry.open;
    return;
  }
  ++entry.open;
  if (stored.arrival_ms < entry.newest_ms) return;
  entry.newest_ms = stored.arrival_ms;
  entry.has_payload = HasPayload(letter);
  entry.bytes = static_cast<int64_t>(record::PayloadBytes(letter));
}

bool LetterBook::Waits(const write::StoredLetter& stored) const {
  if (stored.is_mark()) return false;
  const auto partition = entries_.find(stored.letter.partition);
  if (partition == entries_.end()) return false;
  const auto entry = partition->second.find(stored.letter.offset);
  return entry != partition->second.end() && entry->second.waits() &&
         stored.arrival_ms == entry->second.newest_ms;
}

}  // namespace firn::pipeline
