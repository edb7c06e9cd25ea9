#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/base/result.h"

namespace firn::sim {

class Fiber;

/// One run of a program on one machine of the simulation. What it does to the world goes through fakes that
/// look at `dead`: after that nothing of it reaches anybody, as if it had been killed, while its fibers run
/// out.
struct Process {
  std::string name;
  int64_t skew_ms = 0;  ///< of its wall clock
  bool dead = false;
  bool stopped = false;  ///< SIGSTOP: none of its fibers gets a turn
  std::vector<Fiber*> waiting_for_continue = {};
};

/// Fibers that wait for something, not for a time alone.
struct WaitList {
  std::vector<Fiber*> fibers;
};

/// Everything that happens, on one thread: fibers take turns, which one is next is drawn by the seed, and
/// time passes only when all of them sleep. The same seed gives the same run.
class Scheduler {
 public:
  explicit Scheduler(uint64_t seed);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// A new fiber. It belongs to `process` (null: to none, the world's own), which outlives it.
  Fiber* Spawn(Process* process, std::function<void()> body);
  /// Runs until no fiber is left. kInternal when all wait for each other, or after too many turns.
  Status Run();

  // --- for the fiber whose turn it is

  Process* process() const;
  void Yield() { SleepFor(0); }
  void SleepFor(int64_t ms);
  /// Waits until woken, or for `ms`.
  void Park(WaitList& list, std::optional<int64_t> ms);

  void Wake(WaitList& list);
  void Stop(Process& process) { process.stopped = true; }
  void Continue(Process& process);

  int64_t now_ms() const { return now_ms_; }
  uint64_t Random();
  int64_t Between(int64_t least, int64_t most);  ///< both included
  bool OneIn(int64_t n) { return Between(1, n) == 1; }

  uint64_t turns() const { return turns_; }
  /// Of all turns: equal for equal runs.
  uint64_t trace() const { return trace_; }

 private:
  void Turn(Fiber& fiber);
  void SwitchAway();
  void MakeRunnable(Fiber* fiber);
  bool WakeSleepers();
  static void Enter();

  uint64_t random_;
  int64_t now_ms_ = 0;
  uint64_t turns_ = 0;
  uint64_t trace_ = 0;
  int64_t spawned_ = 0;
  Fiber* current_ = nullptr;
  std::vector<Fiber*> runnable_;
  std::multimap<int64_t, Fiber*> sleepers_;  ///< by the time at which they wake
  std::map<int64_t, std::unique_ptr<Fiber>> fibers_;
};

}  // namespace firn::sim
