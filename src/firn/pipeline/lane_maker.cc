#include "firn/pipeline/lane_maker.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace firn::pipeline {

namespace {

constexpr int64_t kMinBufferedBytes = int64_t{8} << 20;
// Of the memory limit, what the rows of all writers may take: two batches (one commits, one fills) in every
// lane.
constexpr int64_t kBufferShare = 4;
// With many tables most have few rows: an open Parquet file costs more than they do.
constexpr int64_t kOpenFileFromBytes = int64_t{1} << 20;

}  // namespace

LaneMaker::LaneMaker(const PipelineConfig& config, const PipelineDeps& deps,
                     std::shared_ptr<const route::Router> router, TargetBook& book)
    : config_(config), deps_(deps), router_(std::move(router)), book_(book) {}

Result<Sorter> LaneMaker::MakeSorter() const {
  std::unique_ptr<decode::KeyReader> keys;
  if (!router_->fields().empty()) {
    if (!deps_.make_key_reader) {
      return Error(
          ErrorKind::kUnsupported,
          fmt::format("{} records cannot be told apart by a field before they are decoded", config_.format));
    }
    FIRN_ASSIGN(keys, deps_.make_key_reader(router_->fields()));
  }
  return Sorter(router_, book_, std::move(keys));
}

Result<std::unique_ptr<Lane>> LaneMaker::ForAll(int index, source::Source& source) const {
  LaneConfig lane = Settings(index);
  lane.source_index = index;
  lane.fails_whole = router_->sole();
  return Make(std::move(lane), source);
}

Result<std::unique_ptr<Lane>> LaneMaker::ForOne(uint32_t target, source::Source& source) const {
  LaneConfig lane = Settings(deps_.lanes + static_cast<int>(target));
  lane.source_index = 0;
  lane.only_target = target;
  lane.fails_whole = true;
  return Make(std::move(lane), source);
}

LaneConfig LaneMaker::Settings(int index) const {
  LaneConfig lane;
  lane.index = index;
  lane.on_bad_record = config_.on_bad_record;
  lane.tombstones = config_.tombstones;
  lane.max_buffered_bytes =
      std::max(deps_.memory->limit_bytes() / kBufferShare / (2 * deps_.lanes), kMinBufferedBytes);
  lane.open_file_from_bytes = router_->sole() ? 0 : kOpenFileFromBytes;
  lane.pool = deps_.pool;
  lane.memory = deps_.memory;
  lane.max_letter_bytes = MaxLetterBytes(*deps_.memory);
  lane.ids = deps_.ids;
  lane.clock = deps_.clock;
  lane.threads = deps_.threads;
  for (const TableConfig& rule : config_.tables) lane.infers.push_back(rule.columns.empty());
  return lane;
}

Result<std::unique_ptr<Lane>> LaneMaker::Make(LaneConfig lane, source::Source& source) const {
  FIRN_ASSIGN(auto sorter, MakeSorter());
  return std::make_unique<Lane>(std::move(lane), source, deps_.make_decoder, std::move(sorter),
                                book_.unrouted());
}

}  // namespace firn::pipeline
