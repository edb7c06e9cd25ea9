#include "firn/pipeline/lane.h"

#include <utility>

#include <fmt/format.h>

namespace firn::pipeline {

namespace {

constexpr int64_t kHeldPauseMs = 10;

}  // namespace

Lane::Lane(LaneConfig config, source::Source& source, const DecoderFactory& make_decoder, Sorter sorter,
           const TargetPtr& unrouted)
    : config_(std::move(config)),
      work_(config_, source, make_decoder, std::move(sorter), unrouted, board_),
      changed_(config_.threads->MakeCondition()) {}

Lane::~Lane() { Stop(); }

void Lane::Start() {
  thread_ = config_.threads->Start(fmt::format("lane-{}", config_.index), [this] { Run(); });
}

void Lane::RequestCut(CutOrder order) {
  const std::lock_guard lock(mutex_);
  command_ = std::move(order);
  changed_->NotifyAll();
}

LaneCut Lane::CollectCut() {
  std::unique_lock lock(mutex_);
  if (thread_ == nullptr) Turn(lock);
  changed_->Wait(lock, [this] { return cut_.has_value(); });
  LaneCut cut = *std::move(cut_);
  cut_.reset();
  return cut;
}

void Lane::Resume(bool drop_waiting) {
  const std::lock_guard lock(mutex_);
  drop_waiting_ = drop_waiting_ || drop_waiting;
  if (drop_waiting) board_.ForgetPositions();
  paused_ = false;
  changed_->NotifyAll();
}

void Lane::Offer(uint32_t target, TableOffer offer) {
  const std::lock_guard lock(mutex_);
  offers_[target] = std::move(offer);
  changed_->NotifyAll();
}

void Lane::Hold(bool hold) {
  const std::lock_guard lock(mutex_);
  held_ = hold;
  changed_->NotifyAll();
}

void Lane::SetEnds(std::map<record::SourcePartition, int64_t> ends) {
  const std::lock_guard lock(mutex_);
  ends_ = std::move(ends);
}

void Lane::Forget(const std::vector<record::SourcePartition>& partitions) {
  const std::lock_guard lock(mutex_);
  forget_.insert(forget_.end(), partitions.begin(), partitions.end());
  board_.ForgetPositions(partitions);
  changed_->NotifyAll();
}

void Lane::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_->NotifyAll();
  }
  if (thread_ != nullptr) std::exchange(thread_, nullptr)->Join();
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
    changed_->Wait(lock, [this] { return stop_ || !idle(); });
    if (stop_) return;
    const Did did = Turn(lock);
    if (did == Did::kHeld && !command_ && !stop_) changed_->WaitOnceFor(lock, kHeldPauseMs);
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
    changed_->NotifyAll();
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
