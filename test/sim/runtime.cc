#include "sim/runtime.h"

#include <utility>

namespace firn::sim {

namespace {

constexpr int64_t kMostLateMs = 150;

class SimThread final : public runtime::Thread {
 public:
  SimThread(Scheduler& scheduler, std::function<void()> body) : scheduler_(scheduler) {
    scheduler.Spawn(scheduler.process(), [this, body = std::move(body)] {
      body();
      ended_ = true;
      scheduler_.Wake(joining_);
    });
  }
  void Join() override {
    while (!ended_) scheduler_.Park(joining_, std::nullopt);
  }

 private:
  Scheduler& scheduler_;
  bool ended_ = false;
  WaitList joining_;
};

class SimCondition final : public runtime::Condition {
 public:
  explicit SimCondition(Scheduler& scheduler) : scheduler_(scheduler) {}
  void WaitOnce(std::unique_lock<std::mutex>& lock) override {
    lock.unlock();
    scheduler_.Park(waiting_, std::nullopt);
    lock.lock();
  }
  void WaitOnceFor(std::unique_lock<std::mutex>& lock, int64_t ms) override {
    lock.unlock();
    scheduler_.Park(waiting_, ms + scheduler_.Between(0, kMostLateMs));
    lock.lock();
  }
  void NotifyAll() override { scheduler_.Wake(waiting_); }

 private:
  Scheduler& scheduler_;
  WaitList waiting_;
};

}  // namespace

int64_t SimClock::NowMs() const {
  const Process* process = scheduler_.process();
  return kEpochMs + scheduler_.now_ms() + (process == nullptr ? 0 : process->skew_ms);
}

bool SimClock::SleepUnlessStopped(int64_t ms, const std::stop_token& stop) {
  WaitList sleeping;
  const std::stop_callback wake(stop, [&] { scheduler_.Wake(sleeping); });
  if (!stop.stop_requested()) scheduler_.Park(sleeping, ms);
  return !stop.stop_requested();
}

std::unique_ptr<runtime::Thread> SimThreads::Start(std::string /*name*/, std::function<void()> body) {
  return std::make_unique<SimThread>(scheduler_, std::move(body));
}

std::unique_ptr<runtime::Condition> SimThreads::MakeCondition() {
  return std::make_unique<SimCondition>(scheduler_);
}

}  // namespace firn::sim
