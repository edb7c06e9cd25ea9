#pragma once

#include <functional>
#include <mutex>

#include "firn/pipeline/status.h"

namespace firn::pipeline {

/// The status of one pipeline, written by its control thread and copied out by anybody. Thread-safe.
class StatusBoard {
 public:
  PipelineStatus Read() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }
  PipelineState state() const {
    const std::lock_guard lock(mutex_);
    return status_.state;
  }
  void Write(const std::function<void(PipelineStatus&)>& change) {
    const std::lock_guard lock(mutex_);
    change(status_);
  }

 private:
  mutable std::mutex mutex_;
  PipelineStatus status_;
};

}  // namespace firn::pipeline
