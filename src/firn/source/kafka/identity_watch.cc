#include "firn/source/kafka/identity_watch.h"

#include <utility>

namespace firn::source::kafka {

namespace {

constexpr std::chrono::milliseconds kAskEvery{4000};

}  // namespace

IdentityWatch::IdentityWatch(Client& client)
    : client_(client),
      answers_(rd_kafka_queue_new(client.handle())),
      next_question_(Clock::now() + kAskEvery) {}

void IdentityWatch::Expect(const record::Positions& positions) {
  for (const auto& [partition, position] : positions) ids_[partition.topic] = position.identity.topic_id;
}

std::vector<IdentityWatch::Recreated> IdentityWatch::Tick() {
  std::vector<Recreated> recreated;
  for (const TopicInfo& topic : Client::DescribedTopics(answers_.get())) Compare(topic, recreated);
  const auto now = Clock::now();
  if (ids_.empty() || now < next_question_) return recreated;
  next_question_ = now + kAskEvery;
  std::vector<std::string> topics;
  for (const auto& [topic, id] : ids_) topics.push_back(topic);
  client_.AskToDescribe(topics, answers_.get());
  return recreated;
}

void IdentityWatch::Compare(const TopicInfo& topic, std::vector<Recreated>& recreated) {
  const auto expected = ids_.find(topic.name);
  if (expected == ids_.end() || topic.error || topic.id.empty()) return;  // gone or unknown: told elsewhere
  const std::string was = std::exchange(expected->second, topic.id);
  if (!was.empty() && was != topic.id) recreated.push_back({.topic = topic.name, .was = was, .is = topic.id});
}

}  // namespace firn::source::kafka
