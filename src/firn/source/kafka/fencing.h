#pragma once

#include <chrono>
#include <optional>

namespace firn::source::kafka {

/// How often, and after which pause, a static member (`group_instance_id`) that its group has fenced may take
/// its place again. The group fences a member when another one joins under its name: a process with the same
/// name, or this one itself, whose session ended while the brokers were away. In the second case the first
/// return succeeds. Two processes would fence each other for ever: so the pauses grow, and after kReturns
/// fences in a row the member stays out. Pure.
class Fencing {
 public:
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;
  using Pause = std::chrono::milliseconds;

  /// The member was fenced. The pause before it may return; empty when it stays out.
  std::optional<Pause> OnFenced(TimePoint now) {
    if (last_ && now - *last_ > kForgottenAfter) in_a_row_ = 0;
    last_ = now;
    if (in_a_row_ == kReturns) return std::nullopt;
    return kFirstPause * (1 << in_a_row_++);
  }

  static constexpr int kReturns = 3;
  static constexpr Pause kFirstPause{1000};
  /// Much longer than any pause, session or heartbeat: what comes later has another cause.
  static constexpr std::chrono::minutes kForgottenAfter{10};

 private:
  int in_a_row_ = 0;  ///< returns since the member was last left in peace
  std::optional<TimePoint> last_;
};

}  // namespace firn::source::kafka
