#include "firn/route/router.h"

#include <algorithm>
#include <charconv>
#include <regex>
#include <utility>

#include <fmt/format.h>

namespace firn::route {

namespace {

constexpr size_t kMaxTableBytes = 255;

/// One piece of a template: text as it is, or something of the record.
struct Piece {
  enum class Kind : uint8_t { kText, kTopic, kField };
  Kind kind = Kind::kText;
  std::string text;  ///< kText
  size_t group = 0;  ///< kTopic; 0: the whole topic
  std::string path;  ///< kField
  size_t field = 0;  ///< kField: index into Router::fields
};

Error BadTemplate(std::string_view name, std::string_view why) {
  return Error(ErrorKind::kInvalidArgument, fmt::format("name \"{}\": {}", name, why));
}

Result<Piece> ParsePlaceholder(std::string_view name, std::string_view inside) {
  Piece piece;
  if (inside.empty()) return BadTemplate(name, "{} holds nothing; write {topic}, {topic:1} or {field.path}");
  if (inside == "topic") {
    piece.kind = Piece::Kind::kTopic;
    return piece;
  }
  constexpr std::string_view kGroup = "topic:";
  if (!inside.starts_with(kGroup)) {
    piece.kind = Piece::Kind::kField;
    piece.path = inside;
    return piece;
  }
  const std::string_view number = inside.substr(kGroup.size());
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), piece.group);
  if (error != std::errc() || end != number.data() + number.size() || piece.group == 0) {
    return BadTemplate(name, fmt::format("{{{}}} needs the number of a group, from 1 on", inside));
  }
  piece.kind = Piece::Kind::kTopic;
  return piece;
}

Result<std::vector<Piece>> ParseTemplate(std::string_view name) {
  std::vector<Piece> pieces;
  size_t at = 0;
  while (at < name.size()) {
    const size_t brace = name.find_first_of("{}", at);
    if (brace != at) pieces.push_back({.text = std::string(name.substr(at, brace - at))});
    if (brace == std::string_view::npos) break;
    const size_t close = name.find('}', brace);
    if (name[brace] == '}' || close == std::string_view::npos)
      return BadTemplate(name, "a brace has no partner");
    FIRN_ASSIGN(auto piece, ParsePlaceholder(name, name.substr(brace + 1, close - brace - 1)));
    pieces.push_back(std::move(piece));
    at = close + 1;
  }
  return pieces;
}

Result<std::regex> Compile(std::string_view pattern, std::string_view what) {
  try {
    return std::regex(pattern.begin(), pattern.end(), std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("{} \"{}\" is no regular expression: {}", what, pattern, error.what()));
  }
}

/// Whole-text match; a text that the library cannot cope with does not match.
bool Matches(const std::regex& pattern, std::string_view text, std::cmatch* groups = nullptr) {
  try {
    std::cmatch unused;
    return std::regex_match(text.data(), text.data() + text.size(), groups == nullptr ? unused : *groups,
                            pattern);
  } catch (const std::regex_error&) {
    return false;
  }
}

struct CompiledField {
  size_t field = 0;
  std::regex pattern;
};

struct CompiledRule {
  std::optional<std::regex> topic;
  std::vector<CompiledField> fields;
  std::vector<Piece> name;

  bool by_topic_alone() const {
    return fields.empty() &&
           std::ranges::none_of(name, [](const Piece& piece) { return piece.kind == Piece::Kind::kField; });
  }
};

/// A rule that takes records of one topic, with the groups of its match.
struct Candidate {
  size_t index = 0;
  const CompiledRule* rule = nullptr;
  std::vector<std::string> groups;  ///< [0]: the topic
};

NotRouted Missing(std::string_view path) {
  return {reason::kNoTableName,
          fmt::format("the table's name takes the field {}, which the record lacks", path)};
}

Route NameOf(const Candidate& candidate, const std::vector<std::string>& paths,
             const std::vector<FieldValue>& values) {
  RoutedTo to{candidate.index, {}, {}};
  for (const Piece& piece : candidate.rule->name) {
    if (piece.kind == Piece::Kind::kText) {
      to.table += piece.text;
      continue;
    }
    std::string_view value;
    if (piece.kind == Piece::Kind::kTopic) {
      value = candidate.groups.at(piece.group);
      if (value.empty()) {
        return NotRouted{reason::kNoTableName,
                         fmt::format("group {} of the topic's match is empty", piece.group)};
      }
    } else {
      const FieldValue& found = values.at(piece.field);
      if (!found || found->empty() || found->size() > kMaxValueBytes) return Missing(paths.at(piece.field));
      value = *found;
    }
    to.table += NamePart(value);
    if (!to.key.empty()) to.key += '\n';
    to.key += value;
  }
  if (to.table.size() > kMaxTableBytes) {
    return NotRouted{reason::kNoTableName, fmt::format("the name would have {} bytes, more than {}",
                                                       to.table.size(), kMaxTableBytes)};
  }
  return to;
}

class Topic final : public TopicRoutes {
 public:
  Topic(std::string topic, std::vector<Candidate> candidates, std::vector<std::string> paths)
      : topic_(std::move(topic)), candidates_(std::move(candidates)), paths_(std::move(paths)) {
    if (candidates_.empty() || candidates_.front().rule->by_topic_alone()) constant_ = Topic::Of({});
  }

  const Route* constant() const override { return constant_ ? &*constant_ : nullptr; }

  Route Of(const std::vector<FieldValue>& values) const override {
    for (const Candidate& candidate : candidates_) {
      const bool match = std::ranges::all_of(candidate.rule->fields, [&](const CompiledField& field) {
        const FieldValue& value = values.at(field.field);
        return value && value->size() <= kMaxValueBytes && Matches(field.pattern, *value);
      });
      if (match) return NameOf(candidate, paths_, values);
    }
    return NotRouted{reason::kNoRoute,
                     fmt::format("no rule of tables: takes this record of topic {}", topic_)};
  }

 private:
  const std::string topic_;
  const std::vector<Candidate> candidates_;
  const std::vector<std::string> paths_;
  std::optional<Route> constant_;
};

class RuleRouter final : public Router, public std::enable_shared_from_this<RuleRouter> {
 public:
  Status Add(const RouteRule& rule) {
    CompiledRule compiled;
    if (!rule.topic.empty()) {
      FIRN_ASSIGN(compiled.topic, Compile(rule.topic, "topic"));
    }
    for (const FieldMatch& field : rule.fields) {
      FIRN_ASSIGN(auto pattern, Compile(field.pattern, "field " + field.path));
      compiled.fields.push_back({FieldIndex(field.path), std::move(pattern)});
    }
    FIRN_ASSIGN(compiled.name, ParseTemplate(rule.name));
    for (Piece& piece : compiled.name) {
      if (piece.kind == Piece::Kind::kField) piece.field = FieldIndex(piece.path);
      const size_t groups = compiled.topic ? compiled.topic->mark_count() : 0;
      if (piece.kind == Piece::Kind::kTopic && piece.group > groups) {
        return BadTemplate(rule.name,
                           fmt::format("there is no group {}: match.topic has {}", piece.group, groups));
      }
    }
    rules_.push_back(std::move(compiled));
    return Ok();
  }

  const std::vector<std::string>& fields() const override { return fields_; }

  bool sole() const override {
    return rules_.size() == 1 && !rules_.front().topic && rules_.front().fields.empty() &&
           std::ranges::all_of(rules_.front().name,
                               [](const Piece& piece) { return piece.kind == Piece::Kind::kText; });
  }

  std::shared_ptr<const TopicRoutes> ForTopic(const std::string& topic) const override {
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < rules_.size(); ++i) {
      Candidate candidate{i, &rules_[i], {topic}};
      std::cmatch groups;
      if (rules_[i].topic && !Matches(*rules_[i].topic, topic, &groups)) continue;
      for (size_t g = 1; g < groups.size(); ++g) candidate.groups.push_back(groups[g].str());
      const bool last = rules_[i].by_topic_alone();
      candidates.push_back(std::move(candidate));
      if (last) break;  // nothing comes past it
    }
    return std::make_shared<Owned>(shared_from_this(), Topic(topic, std::move(candidates), fields_));
  }

 private:
  /// The rules outlive what points at them.
  class Owned final : public TopicRoutes {
   public:
    Owned(std::shared_ptr<const RuleRouter> router, Topic topic)
        : router_(std::move(router)), topic_(std::move(topic)) {}
    const Route* constant() const override { return topic_.constant(); }
    Route Of(const std::vector<FieldValue>& values) const override { return topic_.Of(values); }

   private:
    const std::shared_ptr<const RuleRouter> router_;
    const Topic topic_;
  };

  size_t FieldIndex(const std::string& path) {
    const auto found = std::ranges::find(fields_, path);
    if (found != fields_.end()) return static_cast<size_t>(found - fields_.begin());
    fields_.push_back(path);
    return fields_.size() - 1;
  }

  std::vector<CompiledRule> rules_;
  std::vector<std::string> fields_;
};

}  // namespace

Result<std::shared_ptr<const Router>> Router::Make(const std::vector<RouteRule>& rules) {
  auto router = std::make_shared<RuleRouter>();
  for (size_t i = 0; i < rules.size(); ++i) FIRN_TRY_CTX(router->Add(rules[i]), fmt::format("tables[{}]", i));
  return std::shared_ptr<const Router>(std::move(router));
}

std::string FilledTemplate(std::string_view name, std::string_view filler) {
  const Result<std::vector<Piece>> pieces = ParseTemplate(name);
  if (!pieces.ok()) return std::string(name);
  std::string text;
  for (const Piece& piece : *pieces)
    text += piece.kind == Piece::Kind::kText ? piece.text : std::string(filler);
  return text;
}

bool IsLiteral(std::string_view name) { return name.find_first_of("{}") == std::string_view::npos; }

std::string NamePart(std::string_view value) {
  std::string part;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    const bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (keep) {
      part += c;
    } else if (byte < 0x80 || byte >= 0xC0) {  // a character of several bytes becomes one '_'
      part += '_';
    }
  }
  return part;
}

}  // namespace firn::route
