#include "firn/pipeline/lane.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "firn/runtime/thread.h"

namespace firn::pipeline {

namespace {

constexpr auto kHeldPause = std::chrono::milliseconds(10);

}  // namespace

Lane::Lane(LaneConfig config, source::Source& source, const DecoderFactory& make_decoder, Sorter sorter,
           const TargetPtr& unrouted)
    : config_(std::move(config)), work_(config_, source, make_decoder, std::move(sorter), unrouted, board_) {}

Lane::~Lane() { Stop(); }

void Lane::Start() {
  thread_ = runtime::StartThread(fmt::format("lane-{}", config_.index),
                                 [this](const std::stop_token& /*stop*/) { Run(); });
}

void Lane::RequestCut(CutOrder order) {
  const std::lock_guard lock(mutex_);
  command_ = std::move(order);
  changed_.notify_all();
}

LaneCut Lane::CollectCut() {
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) Turn(lock);
  changed_.wait(lock, [this] { return cut_.has_value(); });
  LaneCut cut = *std::move(cut_);
  cut_.reset();
  return cut;
}

void Lane::Resume(bool drop_waiting) {
  const std::lock_guard lock(mutex_);
  drop_waiting_ = drop_waiting_ || drop_waiting;
  if (drop_waiting) board_.ForgetPositions();
  paused_ = false;
  changed_.notify_all();
}

void Lane::Offer(uint32_t target, TableOffer offer) {
  const std::lock_guard lock(mutex_);
  offers_[target] = std::move(offer);
  changed_.notify_all();
}

void Lane::Hold(bool hold) {
  const std::lock_guard lock(mutex_);
  held_ = hold;
  changed_.notify_all();
}

void Lane::SetEnds(std::map<record::SourcePartition, int64_t> ends) {
  const std::lock_guard lock(mutex_);
  ends_ = std::move(ends);
}

void Lane::Forget(const std::vector<record::SourcePartition>& partitions) {
  const std::lock_guard lock(mutex_);
  forget_.insert(forget_.end(), partitions.begin(), partitions.end());
  board_.ForgetPositions(partitions);
  changed_.notify_all();
}

void Lane::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  work_.Discard();
  if (cut_) {
    for (LaneCut::Part& part : cut_->parts) part.part.Discard();
  }
}

std::optional<Error> Lane::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void Lane::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !idle(); });
    if (stop_) return;
    const Did did = Turn(lock);
    if (did == Did::kHeld && !command_ && !stop_) changed_.wait_for(lock, kHeldPause);
  }
}

Lane::Did Lane::Turn() {
  std::unique_lock lock(mutex_);
  return Turn(lock);
}

// With the lock held but for the step itself.
Lane::Did Lane::Turn(std::unique_lock<std::mutex>& lock) {
  if (idle()) return Did::kNothing;
  TakeOrders();
  if (command_) {
    const CutOrder order = *std::exchange(command_, std::nullopt);
    paused_ = paused_ || order.pause;
    cut_ = work_.Cut(order);
    changed_.notify_all();
    return Did::kWorked;
  }
  const bool full = held_ || work_.full();
  lock.unlock();
  Status status = work_.Step(/*poll=*/!full);
  lock.lock();
  if (!status.ok()) error_ = std::move(status).error();
  return full ? Did::kHeld : Did::kWorked;
}

void Lane::TakeOrders() {
  if (std::exchange(drop_waiting_, false)) work_.DropWaiting();
  if (!forget_.empty()) work_.Forget(std::exchange(forget_, {}));
  for (auto& [id, offer] : std::exchange(offers_, {})) work_.Offer(id, std::move(offer));
  if (ends_) work_.SetEnds(*std::exchange(ends_, std::nullopt));
}

}  // namespace firn::pipeline
