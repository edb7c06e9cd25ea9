#include "firn/pipeline/sorter.h"

#include <algorithm>
#include <map>

namespace firn::pipeline {

namespace {

/// Values of fields whose route is remembered, per topic and lane.
constexpr size_t kMaxRemembered = 10'000;

record::DeadLetter Letter(const record::RawBatch& raw, size_t record, const route::NotRouted& why) {
  record::DeadLetter letter = record::LetterOf(raw, record);
  letter.stage = "route";
  letter.reason = why.reason;
  letter.message = why.message;
  return letter;
}

}  // namespace

Status Sorter::Prepare(const record::RawBatch& raw) {
  return TopicOf(raw.partition.topic).constant != nullptr ? Ok() : key_reader_->Enter(raw);
}

Sorted Sorter::Sort(record::RawBatch raw) {
  Topic& topic = TopicOf(raw.partition.topic);
  Sorted sorted;
  if (topic.constant != nullptr) {
    if (const auto* target = std::get_if<TargetPtr>(topic.constant.get())) {
      sorted.parts.push_back({*target, std::move(raw)});
      return sorted;
    }
  }
  std::map<Target*, size_t> parts;
  record::RecordCopier copier(raw);
  for (size_t i = 0; i < raw.size(); ++i) {
    const TargetBook::Answer& answer = AnswerOf(topic, raw, i);
    if (const auto* why = std::get_if<route::NotRouted>(&answer)) {
      sorted.letters.push_back(Letter(raw, i, *why));
      continue;
    }
    const TargetPtr& target = std::get<TargetPtr>(answer);
    const auto [part, fresh] = parts.try_emplace(target.get(), sorted.parts.size());
    if (fresh) sorted.parts.push_back({target, copier.Empty()});
    copier.Copy(i, sorted.parts[part->second].raw);
  }
  return sorted;
}

Sorter::Topic& Sorter::TopicOf(const std::string& name) {
  const auto [it, fresh] = topics_.try_emplace(name);
  Topic& topic = it->second;
  if (fresh) {
    topic.routes = router_->ForTopic(name);
    if (const route::Route* constant = topic.routes->constant())
      topic.constant = std::make_unique<TargetBook::Answer>(Resolve(*constant));
  }
  return topic;
}

const TargetBook::Answer& Sorter::AnswerOf(Topic& topic, const record::RawBatch& raw, size_t record) {
  if (topic.constant != nullptr) return *topic.constant;
  const std::vector<route::FieldValue>& values = key_reader_->Read(raw, record);
  std::string joined;
  for (const route::FieldValue& value : values) {
    // A value that is too long counts as missing, wherever it is looked at.
    const bool there = value && value->size() <= route::kMaxValueBytes;
    joined += there ? '+' : '-';
    if (there) joined += std::to_string(value->size()) + ':' + std::string(*value);
  }
  if (const auto known = topic.by_values.find(joined); known != topic.by_values.end()) return known->second;
  if (topic.by_values.size() >= kMaxRemembered) topic.by_values.clear();
  return topic.by_values.emplace(std::move(joined), Resolve(topic.routes->Of(values))).first->second;
}

TargetBook::Answer Sorter::Resolve(const route::Route& route) {
  if (const auto* why = std::get_if<route::NotRouted>(&route)) return *why;
  return book_.Find(std::get<route::RoutedTo>(route));
}

}  // namespace firn::pipeline
