#include "firn/pipeline/lane_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace firn::pipeline {

Status LaneSet::Start(const LaneMaker& maker, source::Source& source, int lanes) {
  ledger_ = std::make_unique<ReadLedger>(static_cast<size_t>(lanes));
  for (int i = 0; i < lanes; ++i) {
    FIRN_ASSIGN(auto lane, maker.ForAll(i, source));
    lanes_.push_back(std::move(lane));
    lanes_.back()->Start();
  }
  return Ok();
}

void LaneSet::Stop() {
  for (auto& lane : lanes_) lane->Stop();
}

SharedCut LaneSet::Cut(const CutOrder& order) {
  for (auto& lane : lanes_) lane->RequestCut(order);
  SharedCut whole;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    LaneCut cut = lanes_[i]->CollectCut();
    Status joins = ledger_->Take(i, cut);
    if (!joins.ok()) whole.joins = std::move(joins);
    for (const auto& [id, missing] : cut.left_out) {
      for (const auto& [partition, from] : missing) commit::AddPending(whole.left_out[id], partition, from);
    }
    std::ranges::move(cut.parts, std::back_inserter(whole.parts));
  }
  return whole;
}

void LaneSet::Resume(bool drop_waiting) {
  for (auto& lane : lanes_) lane->Resume(drop_waiting);
}

void LaneSet::Hold(bool hold) {
  for (auto& lane : lanes_) lane->Hold(hold);
}

void LaneSet::Offer(uint32_t target, const TableOffer& offer) {
  for (auto& lane : lanes_) lane->Offer(target, offer);
}

void LaneSet::DropWaiting(const std::vector<record::SourcePartition>& partitions) {
  for (auto& lane : lanes_) lane->Forget(partitions);
}

std::optional<Error> LaneSet::error() const {
  for (const auto& lane : lanes_) {
    if (auto error = lane->error()) return error;
  }
  return std::nullopt;
}

std::vector<TableRequest> LaneSet::TakeRequests() {
  std::vector<TableRequest> all;
  for (auto& lane : lanes_) std::ranges::move(lane->TakeRequests(), std::back_inserter(all));
  return all;
}

bool LaneSet::waiting() const {
  return std::ranges::any_of(lanes_, [](const auto& lane) { return lane->waiting_bytes() > 0; });
}

std::map<record::SourcePartition, int64_t> LaneSet::Positions(const record::Positions& started) const {
  std::map<record::SourcePartition, int64_t> positions;
  for (const auto& [partition, position] : started) positions[partition] = position.next;
  for (const auto& lane : lanes_) {
    for (const auto& [partition, next] : lane->positions()) {
      if (auto it = positions.find(partition); it != positions.end()) it->second = std::max(it->second, next);
    }
  }
  return positions;
}

int64_t LaneSet::rows_total() const {
  int64_t rows = 0;
  for (const auto& lane : lanes_) rows += lane->rows_total();
  return rows;
}

int64_t LaneSet::bytes_total() const {
  int64_t bytes = 0;
  for (const auto& lane : lanes_) bytes += lane->bytes_total();
  return bytes;
}

int64_t LaneSet::filling_tables() const {
  int64_t tables = 0;
  for (const auto& lane : lanes_) tables += lane->filling_tables();
  return tables;
}

}  // namespace firn::pipeline
