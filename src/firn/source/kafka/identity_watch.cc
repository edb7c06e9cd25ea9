#include "firn/source/kafka/identity_watch.h"

#include <utility>

namespace firn::source::kafka {

namespace {

constexpr std::chrono::milliseconds kAskEvery{4000};
// A broker that has just started does not know its topics for a moment.
constexpr int kMissingForGood = 2;

}  // namespace

IdentityWatch::IdentityWatch(Client& client)
    : client_(client),
      answers_(rd_kafka_queue_new(client.handle())),
      next_question_(Clock::now() + kAskEvery) {}

void IdentityWatch::Expect(const record::Positions& positions) {
  for (const auto& [partition, position] : positions) {
    topics_[partition.topic] = {.id = position.identity.topic_id, .times_missing = 0};
  }
}

std::vector<IdentityWatch::Finding> IdentityWatch::Tick() {
  std::vector<Finding> findings;
  for (const TopicInfo& topic : Client::DescribedTopics(answers_.get())) Compare(topic, findings);
  const auto now = Clock::now();
  if (topics_.empty() || now < next_question_) return findings;
  next_question_ = now + kAskEvery;
  std::vector<std::string> names;
  for (const auto& [topic, expected] : topics_) names.push_back(topic);
  client_.AskToDescribe(names, answers_.get());
  return findings;
}

void IdentityWatch::Compare(const TopicInfo& topic, std::vector<Finding>& findings) {
  const auto found = topics_.find(topic.name);
  if (found == topics_.end()) return;
  Expected& expected = found->second;
  if (topic.error) {
    const bool missing = topic.error->kind() == ErrorKind::kNotFound;
    expected.times_missing = missing ? expected.times_missing + 1 : 0;
    if (expected.times_missing >= kMissingForGood) {
      findings.push_back({.topic = topic.name, .was = expected.id, .is = ""});
    }
    return;
  }
  expected.times_missing = 0;
  if (topic.id.empty()) return;
  const std::string was = std::exchange(expected.id, topic.id);
  if (!was.empty() && was != topic.id) findings.push_back({.topic = topic.name, .was = was, .is = topic.id});
}

}  // namespace firn::source::kafka
