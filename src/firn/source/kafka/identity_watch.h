#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "firn/record/position.h"
#include "firn/source/kafka/client.h"

namespace firn::source::kafka {

/// Notices that a topic was re-created while we read it: librdkafka goes on at the old offset in the new
/// topic, as if nothing had happened, when that is long enough. Asks for the topics' ids every few seconds,
/// without waiting. Control thread only.
class IdentityWatch {
 public:
  struct Recreated {
    std::string topic;
    std::string was;
    std::string is;
  };

  explicit IdentityWatch(Client& client);

  /// These positions were taken from topics of these ids; an unknown one is learnt from the first answer.
  void Expect(const record::Positions& positions);
  /// Topics found re-created since the last call, each told once.
  std::vector<Recreated> Tick();

 private:
  using Clock = std::chrono::steady_clock;
  void Compare(const TopicInfo& topic, std::vector<Recreated>& recreated);

  Client& client_;
  QueuePtr answers_;
  std::map<std::string, std::string> ids_;  ///< topic to id
  Clock::time_point next_question_;
};

}  // namespace firn::source::kafka
