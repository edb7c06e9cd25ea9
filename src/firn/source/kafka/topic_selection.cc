#include "firn/source/kafka/topic_selection.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>

namespace firn::source::kafka {

namespace {

bool IsInternal(std::string_view topic) {
  return topic == "__consumer_offsets" || topic == "__transaction_state" || topic == "__share_group_state";
}

}  // namespace

/// The same engine and flags as librdkafka's, so that both agree on what matches.
struct TopicSelection::Expression {
  regex_t compiled{};
  bool valid = false;
  Expression() = default;
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;
  ~Expression() {
    if (valid) regfree(&compiled);
  }
};

std::string_view InternalTopicsPattern() {
  return "^__(consumer_offsets|transaction_state|share_group_state)$";
}

Result<TopicSelection> TopicSelection::Make(const KafkaConfig& config) {
  TopicSelection selection;
  selection.topics_ = config.topics;
  if (config.topics_pattern.empty()) return selection;

  selection.pattern_ = fmt::format("^({})$", config.topics_pattern);
  auto expression = std::make_shared<Expression>();
  const int code = regcomp(&expression->compiled, selection.pattern_.c_str(), REG_EXTENDED | REG_NOSUB);
  if (code != 0) {
    char reason[256];
    regerror(code, &expression->compiled, reason, sizeof(reason));
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("topics_pattern '{}' is not a POSIX extended regular expression: {}",
                             config.topics_pattern, reason));
  }
  expression->valid = true;
  selection.expression_ = std::move(expression);
  return selection;
}

bool TopicSelection::Matches(std::string_view topic) const {
  if (!is_pattern()) return std::ranges::find(topics_, topic) != topics_.end();
  if (IsInternal(topic)) return false;
  return regexec(&expression_->compiled, std::string(topic).c_str(), 0, nullptr, 0) == 0;
}

std::vector<std::string> TopicSelection::Select(const std::vector<std::string>& existing) const {
  std::vector<std::string> selected;
  if (is_pattern()) {
    std::ranges::copy_if(existing, std::back_inserter(selected),
                         [this](const std::string& topic) { return Matches(topic); });
  } else {
    selected = topics_;
  }
  std::ranges::sort(selected);
  return selected;
}

std::vector<std::string> TopicSelection::subscription() const {
  return is_pattern() ? std::vector<std::string>{pattern_} : topics_;
}

}  // namespace firn::source::kafka
