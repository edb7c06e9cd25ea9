#include "firn/source/kafka/health.h"

#include <utility>

namespace firn::source::kafka {

namespace {

constexpr std::chrono::milliseconds kPingEvery{1000};
constexpr std::chrono::milliseconds kPatience{2500};
constexpr std::chrono::milliseconds kTellEvery{5000};

}  // namespace

std::optional<SourceEvent> Health::Degrade() {
  state_ = State::kDegraded;
  tell_again_ = Clock::now() + kTellEvery;
  return SourceTrouble{.error = *reason_, .partition = std::nullopt};
}

void Health::PingWhenDue() {
  const auto now = Clock::now();
  if (now < next_ping_) return;
  next_ping_ = now + kPingEvery;
  client_.Ping();
}

std::optional<SourceEvent> Health::OnError(Error error, bool all_down) {
  // "All brokers down" says less than the error before it.
  if (!all_down || !reason_) reason_ = std::move(error).WithRetry(RetryHint::kYes);
  if (state_ == State::kDegraded) return std::nullopt;
  if (state_ == State::kGood) {
    state_ = State::kSuspect;
    suspect_since_ = Clock::now();
    next_ping_ = suspect_since_ + kPingEvery;
  }
  return all_down ? Degrade() : std::nullopt;
}

std::optional<SourceEvent> Health::Tick() {
  if (state_ == State::kGood) return std::nullopt;
  if (client_.Answered()) {
    const State before = std::exchange(state_, State::kGood);
    reason_.reset();
    return before == State::kDegraded ? std::optional<SourceEvent>(SourceRecovered{}) : std::nullopt;
  }
  PingWhenDue();
  const auto now = Clock::now();
  const bool due = state_ == State::kSuspect ? now - suspect_since_ > kPatience : now >= tell_again_;
  return due ? Degrade() : std::nullopt;
}

}  // namespace firn::source::kafka
