#include "sim/scheduler.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <utility>

#include "firn/base/check.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIRN_SIM_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if __has_feature(thread_sanitizer)
#define FIRN_SIM_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif
#endif

namespace firn::sim {

namespace {

constexpr size_t kStackBytes = size_t{1} << 20;
constexpr uint64_t kMaxTurns = 3'000'000;

// Stacks are kept for the next fiber: mapping one costs more than most fibers do.
class Stacks {
 public:
  static char* Take() {
    std::vector<char*>& free = Free();
    if (!free.empty()) {
      char* stack = free.back();
      free.pop_back();
#ifdef FIRN_SIM_ASAN
      __asan_unpoison_memory_region(stack, kStackBytes);
#endif
      return stack;
    }
    void* fresh = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    FIRN_CHECK(fresh != MAP_FAILED, "there is memory for a stack");
    return static_cast<char*>(fresh);
  }
  static void Give(char* stack) { Free().push_back(stack); }

 private:
  static std::vector<char*>& Free() {
    static std::vector<char*> free;
    return free;
  }
};

// The context in which Run goes round, and what the sanitizers want to know of its stack.
struct Home {
  ucontext_t context;
  const void* stack = nullptr;
  size_t stack_bytes = 0;
  void* fake_stack = nullptr;
  void* tsan = nullptr;
};
Home home;
Scheduler* running = nullptr;

}  // namespace

class Fiber {
 public:
  Fiber(int64_t number, Process* owner, std::function<void()> work)
      : id(number), process(owner), body(std::move(work)), stack(Stacks::Take()) {
#ifdef FIRN_SIM_TSAN
    tsan = __tsan_create_fiber(0);
#endif
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() {
#ifdef FIRN_SIM_TSAN
    __tsan_destroy_fiber(tsan);
#endif
    Stacks::Give(stack);
  }

  const int64_t id;
  Process* const process;
  std::function<void()> body;
  char* const stack;
  ucontext_t context{};
  void* fake_stack = nullptr;
  void* tsan = nullptr;
  bool done = false;
  WaitList* waits_in = nullptr;
  std::optional<std::multimap<int64_t, Fiber*>::iterator> sleeps;
};

Scheduler::Scheduler(uint64_t seed) : random_(seed * 0x9E37'79B9'7F4A'7C15U + 1) {}
Scheduler::~Scheduler() = default;

uint64_t Scheduler::Random() {
  random_ += 0x9E37'79B9'7F4A'7C15U;
  uint64_t z = random_;
  z = (z ^ (z >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D0'49BB'1331'11EBU;
  return z ^ (z >> 31U);
}

int64_t Scheduler::Between(int64_t least, int64_t most) {
  return least + static_cast<int64_t>(Random() % static_cast<uint64_t>(most - least + 1));
}

Fiber* Scheduler::Spawn(Process* process, std::function<void()> body) {
  auto fiber = std::make_unique<Fiber>(++spawned_, process, std::move(body));
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack;
  fiber->context.uc_stack.ss_size = kStackBytes;
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, &Scheduler::Enter, 0);
  Fiber* raw = fiber.get();
  fibers_.emplace(raw->id, std::move(fiber));
  runnable_.push_back(raw);
  return raw;
}

void Scheduler::Enter() {
#ifdef FIRN_SIM_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &home.stack, &home.stack_bytes);
#endif
  Fiber& self = *running->current_;
  self.body();
  self.body = nullptr;
  self.done = true;
  running->SwitchAway();
}

// From Run to the fiber; returns when it waits or has ended.
void Scheduler::Turn(Fiber& fiber) {
  current_ = &fiber;
  ++turns_;
  trace_ = (trace_ ^ (static_cast<uint64_t>(fiber.id) * 1'000'003 + static_cast<uint64_t>(now_ms_))) *
           0x100'0000'01B3U;
#ifdef FIRN_SIM_ASAN
  __sanitizer_start_switch_fiber(&home.fake_stack, fiber.stack, kStackBytes);
#endif
#ifdef FIRN_SIM_TSAN
  __tsan_switch_to_fiber(fiber.tsan, 0);
#endif
  swapcontext(&home.context, &fiber.context);
#ifdef FIRN_SIM_ASAN
  __sanitizer_finish_switch_fiber(home.fake_stack, nullptr, nullptr);
#endif
  current_ = nullptr;
  if (fiber.done) fibers_.erase(fiber.id);
}

// From the fiber to Run; returns at its next turn.
void Scheduler::SwitchAway() {
  Fiber& self = *current_;
#ifdef FIRN_SIM_ASAN
  __sanitizer_start_switch_fiber(self.done ? nullptr : &self.fake_stack, home.stack, home.stack_bytes);
#endif
#ifdef FIRN_SIM_TSAN
  __tsan_switch_to_fiber(home.tsan, 0);
#endif
  swapcontext(&self.context, &home.context);
#ifdef FIRN_SIM_ASAN
  __sanitizer_finish_switch_fiber(self.fake_stack, nullptr, nullptr);
#endif
}

Status Scheduler::Run() {
  running = this;
#ifdef FIRN_SIM_TSAN
  home.tsan = __tsan_get_current_fiber();
#endif
  while (!fibers_.empty()) {
    if (runnable_.empty() && !WakeSleepers())
      return Error(ErrorKind::kInternal, "every fiber waits for another one");
    if (turns_ > kMaxTurns) return Error(ErrorKind::kInternal, "the run does not end");
    const auto drawn = static_cast<size_t>(Random() % runnable_.size());
    Fiber* fiber = std::exchange(runnable_[drawn], runnable_.back());
    runnable_.pop_back();
    if (fiber->process != nullptr && fiber->process->stopped) {
      fiber->process->waiting_for_continue.push_back(fiber);
    } else {
      Turn(*fiber);
    }
  }
  return Ok();
}

bool Scheduler::WakeSleepers() {
  if (sleepers_.empty()) return false;
  now_ms_ = std::max(now_ms_, sleepers_.begin()->first);
  while (!sleepers_.empty() && sleepers_.begin()->first <= now_ms_) MakeRunnable(sleepers_.begin()->second);
  return true;
}

void Scheduler::MakeRunnable(Fiber* fiber) {
  if (fiber->sleeps) sleepers_.erase(*std::exchange(fiber->sleeps, std::nullopt));
  if (fiber->waits_in != nullptr) std::erase(std::exchange(fiber->waits_in, nullptr)->fibers, fiber);
  runnable_.push_back(fiber);
}

Process* Scheduler::process() const { return current_ == nullptr ? nullptr : current_->process; }

void Scheduler::SleepFor(int64_t ms) {
  current_->sleeps = sleepers_.emplace(now_ms_ + ms, current_);
  SwitchAway();
}

void Scheduler::Park(WaitList& list, std::optional<int64_t> ms) {
  FIRN_CHECK(current_ != nullptr, "only fibers wait");
  current_->waits_in = &list;
  list.fibers.push_back(current_);
  if (ms) current_->sleeps = sleepers_.emplace(now_ms_ + *ms, current_);
  SwitchAway();
}

void Scheduler::Wake(WaitList& list) {
  while (!list.fibers.empty()) MakeRunnable(list.fibers.back());
}

void Scheduler::Continue(Process& process) {
  process.stopped = false;
  for (Fiber* fiber : std::exchange(process.waiting_for_continue, {})) runnable_.push_back(fiber);
}

}  // namespace firn::sim
