#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "firn/runtime/clock.h"
#include "firn/runtime/ids.h"
#include "firn/runtime/threads.h"
#include "sim/scheduler.h"

/// runtime/ on the scheduler: what the product gets by constructor.
namespace firn::sim {

/// Shows each process its own wall clock.
class SimClock final : public runtime::Clock {
 public:
  explicit SimClock(Scheduler& scheduler) : scheduler_(scheduler) {}
  int64_t NowMs() const override;
  int64_t MonotonicNs() const override { return (kBootMs + scheduler_.now_ms()) * 1'000'000; }
  void SleepMs(int64_t ms) override { scheduler_.SleepFor(ms); }
  bool SleepUnlessStopped(int64_t ms, const std::stop_token& stop) override;

 private:
  static constexpr int64_t kEpochMs = 1'700'000'000'000;
  static constexpr int64_t kBootMs = 1'000;
  Scheduler& scheduler_;
};

class SimIds final : public runtime::IdSource {
 public:
  explicit SimIds(Scheduler& scheduler) : scheduler_(scheduler) {}
  uint64_t Random64() override { return scheduler_.Random(); }

 private:
  Scheduler& scheduler_;
};

/// Threads that are fibers of the process that starts them. Timed waits may come late, as on a busy machine.
class SimThreads final : public runtime::Threads {
 public:
  explicit SimThreads(Scheduler& scheduler) : scheduler_(scheduler) {}
  std::unique_ptr<runtime::Thread> Start(std::string name, std::function<void()> body) override;
  std::unique_ptr<runtime::Condition> MakeCondition() override;

 private:
  Scheduler& scheduler_;
};

}  // namespace firn::sim
