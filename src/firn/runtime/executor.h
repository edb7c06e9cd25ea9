#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/base/result.h"
#include "firn/runtime/future.h"
#include "firn/runtime/threads.h"

namespace firn::runtime {

/// A fixed pool of named threads (`io-0`, `io-1` ...). Tasks start in the order of submission and must not
/// throw. Tasks must not wait for other tasks of the same executor. The destructor runs everything that was
/// submitted, then joins. Bound what you submit yourself (TaskGroup, a semaphore, a reservation): the queue
/// has no limit. Thread-safe.
class Executor {
 public:
  Executor(const std::string& name, size_t threads, Threads& from = SystemThreads());
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor();

  void Submit(std::function<void()> task);

  /// Submits and gives a future of what `function` returns.
  template <typename F, typename R = std::invoke_result_t<F&>>
  Future<R> Async(F function) {
    auto promise = std::make_shared<typename Future<R>::Promise>(from_);
    auto task = std::make_shared<F>(std::move(function));
    Submit([promise, task]() mutable {
      R value = (*task)();
      task.reset();  // what it holds is let go before anybody is told
      promise->Set(std::move(value));
    });
    return Future<R>(std::move(promise));
  }

  size_t threads() const { return threads_.size(); }
  size_t queued() const;  ///< submitted and not yet started
  Threads& from() const { return from_; }

 private:
  void Run();

  Threads& from_;
  mutable std::mutex mutex_;
  std::unique_ptr<Condition> changed_;
  std::deque<std::function<void()>> tasks_;
  bool closing_ = false;
  std::vector<std::unique_ptr<Thread>> threads_;
};

/// Tasks that belong together: started on an executor, waited for as one. The first error is kept and the
/// tasks that have not started by then are skipped. Wait must be called before destruction (the destructor
/// checks); not to be shared by owners.
class TaskGroup {
 public:
  explicit TaskGroup(Executor& executor) : executor_(executor), done_(executor.from().MakeCondition()) {}
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;
  ~TaskGroup();

  void Add(std::function<Status()> task);
  /// Returns when every task has ended: Ok or the first error. The group may be used again.
  Status Wait();

 private:
  void RunOne(const std::function<Status()>& task);

  Executor& executor_;
  std::mutex mutex_;
  std::unique_ptr<Condition> done_;
  size_t pending_ = 0;
  std::optional<Error> first_error_;
};

}  // namespace firn::runtime
