#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"
#include "firn/source/kafka/config.h"

namespace firn::source::kafka {

/// Which topics a source reads: a list, or a pattern that must match the whole name. Kafka's own topics
/// (`__consumer_offsets`, `__transaction_state`) never match a pattern. Immutable; any thread.
class TopicSelection {
 public:
  static Result<TopicSelection> Make(const KafkaConfig& config);

  bool is_pattern() const { return expression_ != nullptr; }
  bool Matches(std::string_view topic) const;
  /// The named topics, or of `existing` those that match, sorted.
  std::vector<std::string> Select(const std::vector<std::string>& existing) const;
  /// What librdkafka is to subscribe to.
  std::vector<std::string> subscription() const;

 private:
  struct Expression;
  TopicSelection() = default;

  std::vector<std::string> topics_;
  std::string pattern_;  ///< anchored
  std::shared_ptr<const Expression> expression_;
};

/// Topics that a pattern never matches, in librdkafka's own form (`topic.blacklist`).
std::string_view InternalTopicsPattern();

}  // namespace firn::source::kafka
