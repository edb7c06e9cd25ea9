#include "firn/pipeline/dead_letter_limit.h"

#include <string>

#include <fmt/format.h>

namespace firn::pipeline {

namespace {

constexpr int64_t kWindowsToForget = 10;

std::string ExampleOf(const BatchPart& part) {
  if (part.dead_letters.empty()) return {};
  const record::DeadLetter& first = part.dead_letters.front();
  return fmt::format("; for example {}[{}] offset {}: {}", first.partition.topic, first.partition.partition,
                     first.offset, first.message);
}

}  // namespace

Status DeadLetterLimit::Check(const BatchPart& part, int64_t records) {
  window_records_ += records;
  window_bad_ += part.bad_records;
  if (window_records_ < config_.fail_above_min_records) return Ok();
  const double ratio = static_cast<double>(window_bad_) / static_cast<double>(window_records_);
  if (ratio > config_.fail_above_ratio) {
    return Error(ErrorKind::kUnavailable,
                 fmt::format("{} of {} records are bad, above dead_letters.fail_above ({:.3g}); nothing was "
                             "moved past them{}",
                             window_bad_, window_records_, config_.fail_above_ratio, ExampleOf(part)))
        .WithRetry(RetryHint::kNo)
        .WithRemedy("Mend the columns or the producer, or raise dead_letters.fail_above.");
  }
  if (window_records_ >= kWindowsToForget * config_.fail_above_min_records) window_records_ = window_bad_ = 0;
  return Ok();
}

}  // namespace firn::pipeline
