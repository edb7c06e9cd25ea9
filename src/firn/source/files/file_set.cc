#include "firn/source/files/file_set.h"

#include <chrono>
#include <utility>

namespace firn::source::files {

void FileSet::Tell(SourceEvent event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
}

std::vector<SourceEvent> FileSet::TakeEvents() {
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

void FileSet::WantListing() {
  const std::lock_guard lock(mutex_);
  wants_listing_ = true;
  wanted_.notify_all();
}

void FileSet::AwaitWant(int64_t ms, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  wanted_.wait_for(lock, stop, std::chrono::milliseconds(ms), [this] { return wants_listing_; });
  wants_listing_ = false;
}

Error FileStop(std::string message, std::string remedy) {
  return Error(ErrorKind::kDataLoss, std::move(message))
      .WithRetry(RetryHint::kNo)
      .WithRemedy(std::move(remedy));
}

}  // namespace firn::source::files
