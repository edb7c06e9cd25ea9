#include "firn/runtime/executor.h"

#include "firn/base/check.h"

namespace firn::runtime {

Executor::Executor(const std::string& name, size_t threads, Threads& from)
    : from_(from), changed_(from.MakeCondition()) {
  FIRN_CHECK(threads > 0, "an executor has a thread");
  threads_.reserve(threads);
  for (size_t i = 0; i < threads; ++i)
    threads_.push_back(from_.Start(name + "-" + std::to_string(i), [this] { Run(); }));
}

Executor::~Executor() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_->NotifyAll();
  for (const auto& thread : threads_) thread->Join();
}

void Executor::Submit(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_->NotifyAll();
}

size_t Executor::queued() const {
  const std::lock_guard lock(mutex_);
  return tasks_.size();
}

void Executor::Run() {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_->Wait(lock, [this] { return closing_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
  }
}

TaskGroup::~TaskGroup() { FIRN_CHECK(pending_ == 0, "a task group is waited for"); }

void TaskGroup::Add(std::function<Status()> task) {
  {
    const std::lock_guard lock(mutex_);
    ++pending_;
  }
  executor_.Submit([this, task = std::move(task)] { RunOne(task); });
}

void TaskGroup::RunOne(const std::function<Status()>& task) {
  bool skip = false;
  {
    const std::lock_guard lock(mutex_);
    skip = first_error_.has_value();
  }
  Status status = skip ? Ok() : task();
  // Notified under the lock: the waiter may destroy the group as soon as it can see zero.
  const std::lock_guard lock(mutex_);
  if (!status.ok() && !first_error_) first_error_ = std::move(status).error();
  if (--pending_ == 0) done_->NotifyAll();
}

Status TaskGroup::Wait() {
  std::unique_lock lock(mutex_);
  done_->Wait(lock, [this] { return pending_ == 0; });
  if (!first_error_) return Ok();
  Error error = std::move(*first_error_);
  first_error_.reset();
  return error;
}

}  // namespace firn::runtime
