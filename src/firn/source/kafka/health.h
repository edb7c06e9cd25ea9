#pragma once

#include <chrono>
#include <optional>

#include "firn/source/kafka/client.h"
#include "firn/source/source.h"

namespace firn::source::kafka {

/// Tells passing hiccups from outages. A connection error makes the cluster suspect: it is asked for a sign
/// of life, and only when that fails, or all brokers are down, trouble is told, again every few seconds, and
/// then its end. Control thread only.
class Health {
 public:
  explicit Health(Client& client) : client_(client) {}

  /// librdkafka reported something that it gets over by itself.
  std::optional<SourceEvent> OnError(Error error, bool all_down);
  /// Call on every control poll.
  std::optional<SourceEvent> Tick();

 private:
  enum class State : uint8_t { kGood, kSuspect, kDegraded };
  using Clock = std::chrono::steady_clock;
  std::optional<SourceEvent> Degrade();
  void PingWhenDue();

  Client& client_;
  State state_ = State::kGood;
  std::optional<Error> reason_;
  Clock::time_point suspect_since_;
  Clock::time_point next_ping_;
  Clock::time_point tell_again_;
};

}  // namespace firn::source::kafka
