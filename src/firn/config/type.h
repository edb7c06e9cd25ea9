#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/config/node.h"
#include "firn/config/problems.h"
#include "firn/config/secret.h"

namespace firn::config {

/// One line of the reference page.
struct FieldDoc {
  std::string path;  ///< "pipelines.<name>.commit.interval"
  std::string type;  ///< "duration"
  bool required = false;
  std::string default_text;  ///< as one would write it; empty: none
  std::string allowed;       ///< "1s to 1d", "`fail` | `earliest`"; empty: anything of the type
  std::string doc;
};

/// How a type is documented, whatever it is of.
class DescribedType {
 public:
  virtual ~DescribedType() = default;
  virtual std::string name() const = 0;
  virtual std::string allowed() const { return {}; }
  /// The keys below this value, their paths begin with `path`.
  virtual void Describe(const std::string& /*path*/, std::vector<FieldDoc>* /*out*/) const {}
};

/// How a T is read from a Node, checked, shown and documented. Immutable; shared by the schemas that use it.
template <typename T>
class Type : public DescribedType {
 public:
  /// Reads `node` into `out`. False after adding what is wrong to `problems`; `out` is then unspecified but
  /// valid.
  virtual bool Read(const Node& node, Problems& problems, T* out) const = 0;
  /// As one would write it; empty when there is nothing to show.
  virtual std::string Show(const T& value) const = 0;
};

template <typename T>
using TypePtr = std::shared_ptr<const Type<T>>;

// --- scalars ---

struct TextOptions {
  bool allow_empty = false;
  std::string allowed = {};  ///< words for the reference page
};
TypePtr<std::string> Text(TextOptions options = {});
TypePtr<Secret> SecretText();
/// `true` or `false`; not yes, no, on, off.
TypePtr<bool> Boolean();

template <typename Int>
struct IntegerBounds {
  Int min = std::numeric_limits<Int>::min();
  Int max = std::numeric_limits<Int>::max();
};
/// A whole decimal number. `Integer<int32_t>({.min = 1, .max = 64})`; for int32_t and int64_t.
template <typename Int>
TypePtr<Int> Integer(IntegerBounds<Int> bounds = {});
extern template TypePtr<int32_t> Integer(IntegerBounds<int32_t>);
extern template TypePtr<int64_t> Integer(IntegerBounds<int64_t>);

struct NumberBounds {
  double min = std::numeric_limits<double>::lowest();
  double max = std::numeric_limits<double>::max();
};
TypePtr<double> Number(NumberBounds bounds = {});

/// `60s`, `1h30m`, `7d` into milliseconds; bounds in milliseconds.
TypePtr<int64_t> Duration(IntegerBounds<int64_t> bounds = {.min = 0});
/// `512MiB`, `1GiB` or a plain number into bytes.
TypePtr<int64_t> Bytes(IntegerBounds<int64_t> bounds = {.min = 0});
/// An ISO-8601 timestamp (UTC without an offset) into milliseconds since the epoch.
TypePtr<int64_t> Instant();

/// A path of the local file system or a location with a scheme (`s3://...`). A relative path is made relative
/// to the folder of the file that holds it.
TypePtr<std::string> Path();
/// The same rule for code that reads Nodes itself.
std::string ResolvePath(const Node& node, std::string_view path);

// --- composites ---

TypePtr<Node> Raw(std::string name = "any");  ///< kept as it is, for a reader that comes later

template <typename T>
TypePtr<std::vector<T>> ListOf(TypePtr<T> item, bool allow_empty = true);
/// `placeholder` stands for the key on the reference page: "<name>".
template <typename T>
TypePtr<std::map<std::string, T>> MapOf(TypePtr<T> value, std::string placeholder = "<name>");

/// A map with exactly one key, which names the plug-in: `source: {kafka: {...}}`.
struct Selection {
  std::string name;
  Node node;  ///< the value of that key
};
TypePtr<Selection> OneKeyOf(std::vector<std::string> names);

/// One of a few words.
template <typename E>
struct ChoiceOption {
  std::string word;
  E value;
};
template <typename E>
TypePtr<E> Choice(std::vector<ChoiceOption<E>> options);

/// A scalar with a syntax of its own. `show` may be empty.
template <typename T>
TypePtr<T> Parsed(std::string name, std::function<Result<T>(std::string_view text)> parse,
                  std::function<std::string(const T&)> show = {});

/// Where nothing above fits.
template <typename T>
TypePtr<T> Custom(std::string name, std::function<bool(const Node&, Problems&, T*)> read,
                  std::string allowed = {}, std::function<std::string(const T&)> show = {});

/// A scalar as a short form of something larger: `decode: json` for `decode: {value: {format: json}}`.
template <typename T>
TypePtr<T> OrShort(TypePtr<T> full, std::string short_name,
                   std::function<Result<T>(std::string_view text)> parse);

// --- implementation ---

namespace internal {

/// "expected <type>, found <what is there>"
std::string WrongKind(const Node& node, std::string_view expected);
/// False, with a problem, unless `node` is a scalar.
bool RequireScalar(const Node& node, std::string_view expected, Problems& problems);
/// "is not one of a, b, c; did you mean b?"
std::string NotOneOf(std::string_view word, const std::vector<std::string>& words);
std::string JoinWords(const std::vector<std::string>& words);

template <typename T>
class ListType final : public Type<std::vector<T>> {
 public:
  ListType(TypePtr<T> item, bool allow_empty) : item_(std::move(item)), allow_empty_(allow_empty) {}
  bool Read(const Node& node, Problems& problems, std::vector<T>* out) const override {
    if (!node.is_list() || (!allow_empty_ && node.Items().empty())) {
      problems.Add(node, node.is_list() ? "the list must not be empty" : WrongKind(node, name()));
      return false;
    }
    out->clear();
    bool good = true;
    for (const Node& child : node.Items()) {
      T value{};
      good &= item_->Read(child, problems, &value);
      out->push_back(std::move(value));
    }
    return good;
  }
  std::string name() const override { return "list of " + item_->name(); }
  std::string allowed() const override { return item_->allowed(); }
  std::string Show(const std::vector<T>& values) const override {
    std::string out = "[";
    for (const auto& value : values) out += (out.size() > 1 ? ", " : "") + item_->Show(value);
    return out + "]";
  }
  void Describe(const std::string& path, std::vector<FieldDoc>* out) const override {
    item_->Describe(path + "[]", out);
  }

 private:
  TypePtr<T> item_;
  bool allow_empty_;
};

template <typename T>
class MapType final : public Type<std::map<std::string, T>> {
 public:
  MapType(TypePtr<T> value, std::string placeholder)
      : value_(std::move(value)), placeholder_(std::move(placeholder)) {}
  bool Read(const Node& node, Problems& problems, std::map<std::string, T>* out) const override {
    if (!node.is_map()) {
      problems.Add(node, WrongKind(node, name()));
      return false;
    }
    out->clear();
    bool good = true;
    for (const auto& [key, place, child] : node.Entries()) {
      T value{};
      good &= value_->Read(child, problems, &value);
      out->emplace(key, std::move(value));
    }
    return good;
  }
  std::string name() const override { return "map of " + value_->name(); }
  std::string allowed() const override { return value_->allowed(); }
  std::string Show(const std::map<std::string, T>& values) const override {
    std::string out = "{";
    for (const auto& [key, value] : values)
      out += (out.size() > 1 ? ", " : "") + key + ": " + value_->Show(value);
    return out + "}";
  }
  void Describe(const std::string& path, std::vector<FieldDoc>* out) const override {
    value_->Describe(path + "." + placeholder_, out);
  }

 private:
  TypePtr<T> value_;
  std::string placeholder_;
};

template <typename E>
class ChoiceType final : public Type<E> {
 public:
  explicit ChoiceType(std::vector<ChoiceOption<E>> options) : options_(std::move(options)) {}
  bool Read(const Node& node, Problems& problems, E* out) const override {
    if (!RequireScalar(node, "one of " + JoinWords(Words()), problems)) return false;
    for (const auto& option : options_) {
      if (option.word != node.text()) continue;
      *out = option.value;
      return true;
    }
    problems.Add(node, NotOneOf(node.text(), Words()));
    return false;
  }
  std::string name() const override { return "word"; }
  std::string allowed() const override { return JoinWords(Words()); }
  std::string Show(const E& value) const override {
    for (const auto& option : options_) {
      if (option.value == value) return option.word;
    }
    return {};
  }

 private:
  std::vector<std::string> Words() const {
    std::vector<std::string> words;
    for (const auto& option : options_) words.push_back(option.word);
    return words;
  }
  std::vector<ChoiceOption<E>> options_;
};

template <typename T>
class ParsedType final : public Type<T> {
 public:
  ParsedType(std::string name, std::function<Result<T>(std::string_view)> parse,
             std::function<std::string(const T&)> show)
      : name_(std::move(name)), parse_(std::move(parse)), show_(std::move(show)) {}
  bool Read(const Node& node, Problems& problems, T* out) const override {
    if (!RequireScalar(node, name_, problems)) return false;
    Result<T> value = parse_(node.text());
    if (!value.ok()) {
      problems.Add(node, value.error().ToString());
      return false;
    }
    *out = std::move(value).value();
    return true;
  }
  std::string name() const override { return name_; }
  std::string Show(const T& value) const override { return show_ ? show_(value) : std::string(); }

 private:
  std::string name_;
  std::function<Result<T>(std::string_view)> parse_;
  std::function<std::string(const T&)> show_;
};

template <typename T>
class CustomType final : public Type<T> {
 public:
  CustomType(std::string name, std::function<bool(const Node&, Problems&, T*)> read, std::string allowed,
             std::function<std::string(const T&)> show)
      : name_(std::move(name)),
        read_(std::move(read)),
        allowed_(std::move(allowed)),
        show_(std::move(show)) {}
  bool Read(const Node& node, Problems& problems, T* out) const override {
    return read_(node, problems, out);
  }
  std::string name() const override { return name_; }
  std::string allowed() const override { return allowed_; }
  std::string Show(const T& value) const override { return show_ ? show_(value) : std::string(); }

 private:
  std::string name_;
  std::function<bool(const Node&, Problems&, T*)> read_;
  std::string allowed_;
  std::function<std::string(const T&)> show_;
};

template <typename T>
class ShortType final : public Type<T> {
 public:
  ShortType(TypePtr<T> full, std::string short_name, std::function<Result<T>(std::string_view)> parse)
      : full_(std::move(full)), short_(std::move(short_name), std::move(parse), {}) {}
  bool Read(const Node& node, Problems& problems, T* out) const override {
    if (node.is_scalar()) return short_.Read(node, problems, out);
    return full_->Read(node, problems, out);
  }
  std::string name() const override { return short_.name() + " or " + full_->name(); }
  std::string allowed() const override { return full_->allowed(); }
  std::string Show(const T& value) const override { return full_->Show(value); }
  void Describe(const std::string& path, std::vector<FieldDoc>* out) const override {
    full_->Describe(path, out);
  }

 private:
  TypePtr<T> full_;
  ParsedType<T> short_;
};

}  // namespace internal

template <typename T>
TypePtr<std::vector<T>> ListOf(TypePtr<T> item, bool allow_empty) {
  return std::make_shared<internal::ListType<T>>(std::move(item), allow_empty);
}
template <typename T>
TypePtr<std::map<std::string, T>> MapOf(TypePtr<T> value, std::string placeholder) {
  return std::make_shared<internal::MapType<T>>(std::move(value), std::move(placeholder));
}
template <typename E>
TypePtr<E> Choice(std::vector<ChoiceOption<E>> options) {
  return std::make_shared<internal::ChoiceType<E>>(std::move(options));
}
template <typename T>
TypePtr<T> Parsed(std::string name, std::function<Result<T>(std::string_view text)> parse,
                  std::function<std::string(const T&)> show) {
  return std::make_shared<internal::ParsedType<T>>(std::move(name), std::move(parse), std::move(show));
}
template <typename T>
TypePtr<T> Custom(std::string name, std::function<bool(const Node&, Problems&, T*)> read, std::string allowed,
                  std::function<std::string(const T&)> show) {
  return std::make_shared<internal::CustomType<T>>(std::move(name), std::move(read), std::move(allowed),
                                                   std::move(show));
}
template <typename T>
TypePtr<T> OrShort(TypePtr<T> full, std::string short_name,
                   std::function<Result<T>(std::string_view text)> parse) {
  return std::make_shared<internal::ShortType<T>>(std::move(full), std::move(short_name), std::move(parse));
}

}  // namespace firn::config
