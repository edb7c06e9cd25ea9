#include "firn/record/raw_batch.h"

#include <arrow/record_batch.h>
#include <arrow/util/byte_size.h>

#include <algorithm>
#include <cstring>

#include "firn/base/check.h"

namespace firn::record {

namespace {

constexpr size_t kFirstCapacity = 64 << 10;
constexpr size_t kMaxBytes = size_t{1} << 30;  // Slice holds 32-bit offsets, with room for padding

}  // namespace

void Arena::Reserve(size_t bytes) {
  if (bytes <= capacity_) return;
  const size_t grown = std::max({bytes, capacity_ * 2, kFirstCapacity});
  auto data = std::make_unique_for_overwrite<char[]>(grown + kArenaPadding);
  if (size_ > 0) std::memcpy(data.get(), data_.get(), size_);
  std::memset(data.get() + size_, 0, kArenaPadding);
  data_ = std::move(data);
  capacity_ = grown;
}

uint32_t Arena::Append(std::string_view bytes) {
  FIRN_CHECK(bytes.size() <= kMaxBytes - size_, "a raw batch holds at most 1 GiB of payloads");
  Reserve(std::max<size_t>(size_ + bytes.size(), 1));
  const auto begin = static_cast<uint32_t>(size_);
  if (!bytes.empty()) std::memcpy(data_.get() + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
  std::memset(data_.get() + size_, 0, kArenaPadding);
  return begin;
}

int64_t PayloadBytes(const RawBatch& batch) {
  const auto arena = static_cast<int64_t>(batch.arena.size());
  if (batch.rows == nullptr) return arena;
  return arena + arrow::util::ReferencedBufferSize(*batch.rows).ValueOr(0);
}

int64_t RecordBytes(const RawBatch& batch, size_t i) {
  const auto bytes = [](const Slice& slice) { return slice.is_null() ? 0 : int64_t{slice.length}; };
  return bytes(batch.keys[i]) + bytes(batch.values[i]);
}

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

RawBatch RecordCopier::Empty() const {
  RawBatch empty;
  empty.partition = from_.partition;
  empty.range = from_.range;
  empty.file = from_.file;
  return empty;
}

void RecordCopier::Copy(size_t record, RawBatch& to) {
  const auto copy = [&](const Slice& slice) {
    return slice.is_null()
               ? Slice{}
               : Slice{to.arena.Append(from_.arena.View(slice.begin, slice.length)), slice.length};
  };
  to.offsets.push_back(from_.offsets[record]);
  to.timestamps_ms.push_back(from_.timestamps_ms[record]);
  to.keys.push_back(copy(from_.keys[record]));
  to.values.push_back(copy(from_.values[record]));
  if (!from_.lines.empty()) to.lines.push_back(from_.lines[record]);
  while (header_ < from_.headers.size() && from_.headers[header_].record < record) ++header_;
  for (; header_ < from_.headers.size() && from_.headers[header_].record == record; ++header_) {
    const RawBatch::Header& header = from_.headers[header_];
    to.headers.push_back({static_cast<uint32_t>(to.size() - 1), copy(header.name), copy(header.value)});
  }
}

void Truncate(RawBatch& raw, size_t count) {
  if (count >= raw.size()) return;
  raw.offsets.resize(count);
  raw.timestamps_ms.resize(count);
  raw.keys.resize(count);
  raw.values.resize(count);
  if (!raw.lines.empty()) raw.lines.resize(count);
  std::erase_if(raw.headers, [&](const RawBatch::Header& header) { return header.record >= count; });
  if (raw.rows != nullptr) raw.rows = raw.rows->Slice(0, static_cast<int64_t>(count));
}

}  // namespace firn::record
