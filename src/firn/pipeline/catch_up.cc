#include "firn/pipeline/catch_up.h"

#include <algorithm>
#include <utility>

namespace firn::pipeline {

Result<std::unique_ptr<source::Source>> CatchUp::Connect(const PipelineDeps& deps,
                                                         const record::Positions& from) {
  FIRN_ASSIGN(auto source, Subscribe(deps, from));
  FIRN_TRY(source->Start(from));
  return source;
}

Result<std::unique_ptr<source::Source>> CatchUp::Subscribe(const PipelineDeps& deps,
                                                           const record::Positions& from) {
  FIRN_ASSIGN(auto source, deps.make_source(1));
  FIRN_TRY(source->Open());
  FIRN_TRY(source->Subscribe(/*bounded=*/true));
  FIRN_ASSIGN(auto all, source->ListPartitions());
  std::vector<record::SourcePartition> others;
  for (const auto& [partition, bounds] : all) {
    if (!from.contains(partition)) others.push_back(partition);
  }
  FIRN_TRY(source->Release(others));
  return source;
}

CatchUp::CatchUp(std::unique_ptr<source::Source> source, record::Positions from)
    : source_(std::move(source)), from_(std::move(from)) {}

CatchUp::~CatchUp() {
  if (lane_ != nullptr) lane_->Stop();
  source_->Close();
}

void CatchUp::Start(std::unique_ptr<Lane> lane, uint32_t target, TableOffer offer) {
  lane_ = std::move(lane);
  lane_->Start();
  lane_->Offer(target, std::move(offer));
  lane_->Resume(/*drop_waiting=*/false);
}

Status CatchUp::Serve() {
  if (auto error = lane_->error()) return *std::move(error);
  FIRN_ASSIGN(auto events, source_->PollControl(0));
  for (const source::SourceEvent& event : events) {
    const auto* trouble = std::get_if<source::SourceTrouble>(&event);
    if (trouble != nullptr && trouble->error.retry() == RetryHint::kNo) return trouble->error;
  }
  return Ok();
}

Result<BatchPart> CatchUp::Cut(const TargetPtr& target, bool pause) {
  lane_->RequestCut({.all = true, .targets = {}, .pause = pause});
  LaneCut cut = lane_->CollectCut();
  BatchPart whole;
  for (LaneCut::Part& part : cut.parts) {
    if (part.target != target) {
      part.part.Discard();
      continue;
    }
    FIRN_TRY(whole.Merge(std::move(part.part)));
  }
  whole.own_read = true;
  return whole;
}

bool CatchUp::Near(const record::Positions& read) const {
  const record::Positions at = positions();
  return lane_->waiting_bytes() == 0 && std::ranges::all_of(at, [&](const auto& entry) {
           const auto shared = read.find(entry.first);
           return shared == read.end() || entry.second.next >= shared->second.next;
         });
}

std::map<record::SourcePartition, int64_t> CatchUp::Join(const record::Positions& read) {
  for (const auto& [partition, position] : positions()) {
    const auto shared = read.find(partition);
    ends_[partition] = shared == read.end() ? position.next : std::max(position.next, shared->second.next);
  }
  lane_->SetEnds(ends_);
  lane_->Resume(/*drop_waiting=*/false);
  return ends_;
}

bool CatchUp::Reached() const {
  const record::Positions at = positions();
  return joined() && lane_->waiting_bytes() == 0 &&
         std::ranges::all_of(ends_, [&](const auto& end) { return at.at(end.first).next >= end.second; });
}

record::Positions CatchUp::positions() const {
  record::Positions at = from_;
  for (const auto& [partition, next] : lane_->positions()) {
    if (const auto it = at.find(partition); it != at.end()) it->second.next = std::max(it->second.next, next);
  }
  return at;
}

}  // namespace firn::pipeline
