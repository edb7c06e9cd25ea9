#include "firn/record/dead_letter.h"

#include <algorithm>
#include <string_view>

#include "firn/record/raw_batch.h"

namespace firn::record {

DeadLetter LetterOf(const RawBatch& raw, size_t i) {
  DeadLetter letter;
  letter.partition = raw.partition;
  letter.offset = raw.offsets[i];
  letter.timestamp_ms = raw.timestamps_ms[i];
  if (raw.file != nullptr) {
    letter.file = raw.file->location;
    if (i < raw.lines.size()) letter.line = raw.lines[i];
  }
  const auto bytes = [&](const Slice& slice) -> std::optional<std::string> {
    if (slice.is_null()) return std::nullopt;
    return std::string(raw.arena.View(slice.begin, slice.length));
  };
  letter.key = bytes(raw.keys[i]);
  letter.value = bytes(raw.values[i]);
  auto header = std::ranges::lower_bound(raw.headers, i, {}, &RawBatch::Header::record);
  for (; header != raw.headers.end() && header->record == i; ++header)
    letter.headers.emplace_back(raw.arena.View(header->name.begin, header->name.length),
                                bytes(header->value));
  return letter;
}

}  // namespace firn::record
