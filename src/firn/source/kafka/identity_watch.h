#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "firn/record/position.h"
#include "firn/source/kafka/client.h"

namespace firn::source::kafka {

/// Notices that a topic was deleted or re-created while we read it: librdkafka goes on at the old offset in
/// the new topic, as if nothing had happened, when that is long enough. Asks for the topics' ids every few
/// seconds, without waiting. Control thread only.
class IdentityWatch {
 public:
  struct Finding {
    std::string topic;
    std::string was;
    std::string is;  ///< empty: the topic is missing (told again with every answer)
  };

  explicit IdentityWatch(Client& client);

  /// These positions were taken from topics of these ids; an unknown one is learnt from the first answer.
  void Expect(const record::Positions& positions);
  void Forget(const std::string& topic) { topics_.erase(topic); }
  std::vector<Finding> Tick();

 private:
  using Clock = std::chrono::steady_clock;
  struct Expected {
    std::string id;
    int times_missing = 0;
  };
  void Compare(const TopicInfo& topic, std::vector<Finding>& findings);

  Client& client_;
  QueuePtr answers_;
  std::map<std::string, Expected> topics_;
  Clock::time_point next_question_;
};

}  // namespace firn::source::kafka
