#include "firn/runtime/threads.h"

#include <chrono>
#include <condition_variable>
#include <stop_token>
#include <thread>
#include <utility>

#include "firn/runtime/thread.h"

namespace firn::runtime {

namespace {

class SystemThread final : public Thread {
 public:
  SystemThread(std::string name, std::function<void()> body)
      : thread_(StartThread(std::move(name), [body = std::move(body)](const std::stop_token&) { body(); })) {}
  void Join() override { thread_.join(); }

 private:
  std::jthread thread_;
};

class SystemCondition final : public Condition {
 public:
  void WaitOnce(std::unique_lock<std::mutex>& lock) override { changed_.wait(lock); }
  void WaitOnceFor(std::unique_lock<std::mutex>& lock, int64_t ms) override {
    changed_.wait_for(lock, std::chrono::milliseconds(ms));
  }
  void NotifyAll() override { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

class TheSystem final : public Threads {
 public:
  std::unique_ptr<Thread> Start(std::string name, std::function<void()> body) override {
    return std::make_unique<SystemThread>(std::move(name), std::move(body));
  }
  std::unique_ptr<Condition> MakeCondition() override { return std::make_unique<SystemCondition>(); }
};

}  // namespace

Threads& SystemThreads() {
  static TheSystem threads;
  return threads;
}

void Turnstile::lock() {
  std::unique_lock guard(mutex_);
  left_->Wait(guard, [this] { return !taken_; });
  taken_ = true;
}

void Turnstile::unlock() {
  const std::lock_guard guard(mutex_);
  taken_ = false;
  left_->NotifyAll();
}

}  // namespace firn::runtime
