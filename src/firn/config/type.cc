#include "firn/config/type.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>

#include "firn/base/bytes.h"
#include "firn/base/text_distance.h"
#include "firn/base/time.h"
#include "firn/base/units.h"

namespace firn::config {

namespace internal {

std::string JoinWords(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string WrongKind(const Node& node, std::string_view expected) {
  switch (node.kind()) {
    case Node::Kind::kNull:
      return fmt::format("expected {}, found nothing", expected);
    case Node::Kind::kScalar:
      return fmt::format("expected {}, found \"{}\"", expected, Excerpt(node.text(), 60));
    case Node::Kind::kList:
      return fmt::format("expected {}, found a list", expected);
    case Node::Kind::kMap:
      return fmt::format("expected {}, found a map", expected);
  }
  return {};
}

bool RequireScalar(const Node& node, std::string_view expected, Problems& problems) {
  if (node.is_scalar()) return true;
  problems.Add(node, WrongKind(node, expected));
  return false;
}

std::string NotOneOf(std::string_view word, const std::vector<std::string>& words) {
  const auto nearest = NearestName(word, words);
  const std::string hint = nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : std::string();
  return fmt::format("\"{}\" is not one of {}{}", Excerpt(word, 60), JoinWords(words), hint);
}

}  // namespace internal

namespace {

using internal::RequireScalar;

class TextType final : public Type<std::string> {
 public:
  explicit TextType(TextOptions options) : options_(std::move(options)) {}
  bool Read(const Node& node, Problems& problems, std::string* out) const override {
    if (!RequireScalar(node, name(), problems)) return false;
    if (node.text().empty() && !options_.allow_empty) {
      problems.Add(node, "must not be empty");
      return false;
    }
    *out = node.text();
    return true;
  }
  std::string name() const override { return "text"; }
  std::string allowed() const override { return options_.allowed; }
  std::string Show(const std::string& value) const override { return value; }

 private:
  TextOptions options_;
};

class SecretType final : public Type<Secret> {
 public:
  bool Read(const Node& node, Problems& problems, Secret* out) const override {
    if (!node.is_scalar()) {
      problems.Add(node, "expected a text");
      return false;
    }
    *out = Secret(node.text());
    return true;
  }
  std::string name() const override { return "secret text"; }
  std::string Show(const Secret& /*value*/) const override { return {}; }
};

class BooleanType final : public Type<bool> {
 public:
  bool Read(const Node& node, Problems& problems, bool* out) const override {
    if (!RequireScalar(node, "true or false", problems)) return false;
    if (node.text() != "true" && node.text() != "false") {
      problems.Add(node, internal::WrongKind(node, "true or false"));
      return false;
    }
    *out = node.text() == "true";
    return true;
  }
  std::string name() const override { return "boolean"; }
  std::string allowed() const override { return "true, false"; }
  std::string Show(const bool& value) const override { return value ? "true" : "false"; }
};

/// Text to a number of type V with bounds; the subclasses bring the syntax.
template <typename V>
class BoundedType : public Type<V> {
 public:
  BoundedType(V min, V max) : min_(min), max_(max) {}
  bool Read(const Node& node, Problems& problems, V* out) const override {
    if (!RequireScalar(node, Expected(), problems)) return false;
    const Result<V> value = Parse(node.text());
    if (!value.ok()) {
      problems.Add(node, value.error().ToString());
      return false;
    }
    if (*value < min_ || *value > max_) {
      problems.Add(node, fmt::format("{} is out of range: {}", node.text(), this->allowed()));
      return false;
    }
    *out = *value;
    return true;
  }
  std::string allowed() const override {
    const bool low = min_ != std::numeric_limits<V>::lowest();
    const bool high = max_ != std::numeric_limits<V>::max();
    if (low && high) return this->Show(min_) + " to " + this->Show(max_);
    if (low) return "at least " + this->Show(min_);
    return high ? "at most " + this->Show(max_) : std::string();
  }

 protected:
  virtual Result<V> Parse(std::string_view text) const = 0;
  std::string Expected() const { return "a " + this->name(); }

 private:
  V min_;
  V max_;
};

Error NoNumber(std::string_view text, std::string_view what) {
  return {ErrorKind::kInvalidArgument, fmt::format("expected {}, found \"{}\"", what, Excerpt(text, 60))};
}

template <typename Int>
class IntegerType final : public BoundedType<Int> {
 public:
  using BoundedType<Int>::BoundedType;
  std::string name() const override { return "whole number"; }
  std::string Show(const Int& value) const override { return std::to_string(value); }

 protected:
  Result<Int> Parse(std::string_view text) const override {
    const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
    Int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool padded = digits.size() > 1 && digits[0] == '0';
    if (end != text.data() + text.size() || error == std::errc::invalid_argument || padded) {
      return NoNumber(text, "a whole number");
    }
    if (error == std::errc::result_out_of_range) {
      return Error(ErrorKind::kInvalidArgument, std::string(text) + " is too large");
    }
    return value;
  }
};

class NumberType final : public BoundedType<double> {
 public:
  using BoundedType<double>::BoundedType;
  std::string name() const override { return "number"; }
  std::string Show(const double& value) const override { return fmt::format("{}", value); }

 protected:
  Result<double> Parse(std::string_view text) const override {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
      return NoNumber(text, "a number");
    return value;
  }
};

class DurationType final : public BoundedType<int64_t> {
 public:
  using BoundedType<int64_t>::BoundedType;
  std::string name() const override { return "duration"; }
  std::string Show(const int64_t& value) const override { return DurationText(value); }

 protected:
  Result<int64_t> Parse(std::string_view text) const override { return ParseDurationMs(text); }
};

class BytesType final : public BoundedType<int64_t> {
 public:
  using BoundedType<int64_t>::BoundedType;
  std::string name() const override { return "size"; }
  std::string Show(const int64_t& value) const override { return BytesText(value); }

 protected:
  Result<int64_t> Parse(std::string_view text) const override { return ParseBytes(text); }
};

class RawType final : public Type<Node> {
 public:
  explicit RawType(std::string name) : name_(std::move(name)) {}
  bool Read(const Node& node, Problems& /*problems*/, Node* out) const override {
    *out = node;
    return true;
  }
  std::string name() const override { return name_; }
  std::string Show(const Node& /*value*/) const override { return {}; }

 private:
  std::string name_;
};

class PathType final : public Type<std::string> {
 public:
  bool Read(const Node& node, Problems& problems, std::string* out) const override {
    if (!text_.Read(node, problems, out)) return false;
    *out = ResolvePath(node, *out);
    return true;
  }
  std::string name() const override { return "path"; }
  std::string Show(const std::string& value) const override { return value; }

 private:
  TextType text_{TextOptions{}};
};

class OneKeyType final : public Type<Selection> {
 public:
  explicit OneKeyType(std::vector<std::string> names) : names_(std::move(names)) {}
  bool Read(const Node& node, Problems& problems, Selection* out) const override {
    const auto entries = node.Entries();
    if (entries.size() != 1) {
      problems.Add(node, "expected a map with exactly one key, one of " + internal::JoinWords(names_));
      return false;
    }
    const auto& [key, place, value] = entries.front();
    if (std::find(names_.begin(), names_.end(), key) == names_.end()) {
      problems.Add(place, node.path(), internal::NotOneOf(key, names_));
      return false;
    }
    *out = {key, value};
    return true;
  }
  std::string name() const override { return "map with one key"; }
  std::string allowed() const override { return internal::JoinWords(names_); }
  std::string Show(const Selection& value) const override { return value.name; }

 private:
  std::vector<std::string> names_;
};

Result<int64_t> ParseInstantMs(std::string_view text) {
  int64_t micros = 0;
  const TimeParse outcome = ParseTimestampMicros(text, &micros);
  if (outcome == TimeParse::kOk) return FloorDiv(micros, 1000);
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("\"{}\": {}; expected a timestamp like 2026-01-31T00:00:00Z", Excerpt(text, 60),
                           ToString(outcome)));
}

/// "s3:", "file:", but not "C:" alone.
bool HasScheme(std::string_view path) {
  const size_t colon = path.find("://");
  return (colon != std::string_view::npos && colon > 0) || path.starts_with("file:");
}

}  // namespace

TypePtr<std::string> Text(TextOptions options) { return std::make_shared<TextType>(std::move(options)); }
TypePtr<Secret> SecretText() { return std::make_shared<SecretType>(); }
TypePtr<bool> Boolean() { return std::make_shared<BooleanType>(); }

template <typename Int>
TypePtr<Int> Integer(IntegerBounds<Int> bounds) {
  return std::make_shared<IntegerType<Int>>(bounds.min, bounds.max);
}
template TypePtr<int32_t> Integer(IntegerBounds<int32_t>);
template TypePtr<int64_t> Integer(IntegerBounds<int64_t>);

TypePtr<double> Number(NumberBounds bounds) { return std::make_shared<NumberType>(bounds.min, bounds.max); }

TypePtr<int64_t> Duration(IntegerBounds<int64_t> bounds) {
  return std::make_shared<DurationType>(bounds.min, bounds.max);
}
TypePtr<int64_t> Bytes(IntegerBounds<int64_t> bounds) {
  return std::make_shared<BytesType>(bounds.min, bounds.max);
}
TypePtr<int64_t> Instant() {
  return Parsed<int64_t>("timestamp", ParseInstantMs, [](const int64_t& ms) { return FormatInstantMs(ms); });
}

TypePtr<std::string> Path() { return std::make_shared<PathType>(); }

std::string ResolvePath(const Node& node, std::string_view path) {
  if (HasScheme(path) || path.starts_with('/')) return std::string(path);
  const auto full = std::filesystem::absolute(std::filesystem::path(node.folder()) / path);
  return full.lexically_normal().string();
}

TypePtr<Node> Raw(std::string name) { return std::make_shared<RawType>(std::move(name)); }
TypePtr<Selection> OneKeyOf(std::vector<std::string> names) {
  return std::make_shared<OneKeyType>(std::move(names));
}

}  // namespace firn::config
