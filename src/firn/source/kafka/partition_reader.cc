#include "firn/source/kafka/partition_reader.h"

#include <algorithm>
#include <utility>

#include "firn/record/fingerprint.h"

namespace firn::source::kafka {

PartitionReader::PartitionReader(record::SourcePartition partition, const record::PartitionPosition& position)
    : partition_(std::move(partition)) {
  MoveTo(position);
}

void PartitionReader::OpenBatch(size_t records, size_t bytes) {
  batch_ = record::RawBatch{};
  batch_.partition = partition_;
  batch_.range = {.from = next_, .to = next_, .identity = identity_, .last = std::nullopt};
  if (records == 0) return;
  batch_.offsets.reserve(records);
  batch_.timestamps_ms.reserve(records);
  batch_.keys.reserve(records);
  batch_.values.reserve(records);
  batch_.arena.Reserve(bytes);
}

record::Slice PartitionReader::Copy(std::optional<std::string_view> bytes) {
  if (!bytes) return {};
  return {.begin = batch_.arena.Append(*bytes), .length = static_cast<uint32_t>(bytes->size())};
}

bool PartitionReader::Take(const RecordView& record) {
  if (closed_ || record.offset < next_) return false;
  batch_.offsets.push_back(record.offset);
  batch_.timestamps_ms.push_back(record.timestamp_ms);
  batch_.keys.push_back(Copy(record.key));
  batch_.values.push_back(Copy(record.value));
  next_ = record.offset + 1;
  return true;
}

void PartitionReader::AddHeader(std::string_view name, std::optional<std::string_view> value) {
  batch_.headers.push_back(
      {.record = static_cast<uint32_t>(batch_.size() - 1), .name = Copy(name), .value = Copy(value)});
}

void PartitionReader::ReachEnd(int64_t offset) {
  if (!closed_) next_ = std::max(next_, offset);
}

std::optional<record::RawBatch> PartitionReader::Cut() {
  if (!has_news()) return std::nullopt;
  batch_.range.to = next_;
  if (batch_.size() > 0) batch_.range.last = record::FingerprintOf(batch_, batch_.size() - 1);
  record::RawBatch cut = std::move(batch_);
  OpenBatch(cut.size(), cut.arena.size());
  return cut;
}

void PartitionReader::MoveTo(const record::PartitionPosition& position) {
  next_ = position.next;
  identity_ = position.identity;
  closed_ = false;
  OpenBatch(0, 0);
}

}  // namespace firn::source::kafka
