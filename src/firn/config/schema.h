#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/config/node.h"
#include "firn/config/problems.h"
#include "firn/config/type.h"

// A component declares its keys once, beside the struct that holds them (its config.h / config.cc):
//
//   struct CommitConfig {
//     int64_t interval_ms = 60'000;          // the default on the reference page is the one written here
//     int64_t max_records = 5'000'000;
//     OnFull on_full = OnFull::kFlush;
//     std::optional<std::string> note;       // an optional member takes the type of its value
//   };
//
//   const config::Schema<CommitConfig>& CommitSchema() {
//     static const auto schema =
//         config::Schema<CommitConfig>()
//             .Field("interval", &CommitConfig::interval_ms, config::Duration({.min = 1000, .max =
//             86'400'000}),
//                    "A batch is committed at the latest this long after its first record.")
//             .Field("max_records", &CommitConfig::max_records, config::Integer<int64_t>({.min = 1}),
//                    "A batch is committed when it holds this many records.")
//             .Field("on_full", &CommitConfig::on_full,
//                    config::Choice<OnFull>({{"flush", OnFull::kFlush}, {"wait", OnFull::kWait}}), "When
//                    memory is used up.")
//             .Field("note", &CommitConfig::note, config::Text(), "Kept with each commit.", "the pipeline's
//             id") .Check([](const CommitConfig& c, config::Checker& check) {
//               if (check.has("note") && c.max_records == 1) check.Fail("note", "makes no sense with
//               max_records: 1");
//             });
//     return schema;
//   }
//
//   schema.Field("commit", &PipelineConfig::commit, config::Object(CommitSchema()), "When a batch ends.") //
//   nested schema.Required("topics", &KafkaConfig::topics, config::ListOf(config::Text()), "...") // no
//   default
//
//   config::Problems problems;
//   const auto root = config::LoadFiles(paths, config::SystemEnvironment(), problems); // load.h FileConfig
//   file; if (root) FileSchema().Read(*root, problems, &file); FIRN_TRY(problems.ToStatus()); // all at once

namespace firn::config {

/// What a Check function sees of the map it checks.
class Checker {
 public:
  Checker(const Node& node, Problems& problems) : node_(node), problems_(problems) {}
  /// The key was written, whatever its value.
  bool has(std::string_view key) const { return node_.Find(key).has_value(); }
  /// A problem at `key` (at the map itself when the key is not written, or empty).
  void Fail(std::string_view key, std::string message);
  const Node& node() const { return node_; }
  bool failed() const { return failed_; }

 private:
  const Node& node_;
  Problems& problems_;
  bool failed_ = false;
};

namespace internal {

/// Unknown keys of `node` become problems with the nearest known key.
bool CheckKeys(const Node& node, const std::vector<std::string>& known,
               const std::vector<std::string>& prefixes,
               const std::vector<std::pair<std::string, std::string>>& retired, Problems& problems);
void CheckOneOf(Checker& check, const std::vector<std::string>& keys, bool required);

template <typename M>
struct Unwrapped {
  using type = M;
};
template <typename V>
struct Unwrapped<std::optional<V>> {
  using type = V;
};

}  // namespace internal

/// The keys of one map of the configuration, declared once: they read it, check it and document it.
/// T must be default-constructible; its member initialisers are the defaults.
template <typename T>
class Schema {
 public:
  /// A key with a default. `default_text` replaces the member's default on the reference page ("firn-<id>").
  template <typename M>
  Schema&& Field(std::string key, M T::* member, const TypePtr<typename internal::Unwrapped<M>::type>& type,
                 std::string doc, std::string default_text = {}) && {
    Add(std::move(key), member, type, std::move(doc), false, std::move(default_text));
    return std::move(*this);
  }
  /// A key that must be written.
  template <typename M>
  Schema&& Required(std::string key, M T::* member,
                    const TypePtr<typename internal::Unwrapped<M>::type>& type, std::string doc) && {
    Add(std::move(key), member, type, std::move(doc), true, {});
    return std::move(*this);
  }
  /// Every key that begins with `prefix` ("header."): the rest of the key names a text of the map.
  Schema&& Prefixed(std::string prefix, std::map<std::string, std::string> T::* member, std::string doc) && {
    prefixed_.push_back({std::move(prefix), member, std::move(doc)});
    return std::move(*this);
  }
  /// A key of former versions: an error that says what to write instead.
  Schema&& Retired(std::string key, std::string instead) && {
    retired_.emplace_back(std::move(key), std::move(instead));
    return std::move(*this);
  }
  /// At most one of these keys.
  Schema&& Exclusive(const std::vector<std::string>& keys) && {
    checks_.push_back([keys](const T&, Checker& check) { internal::CheckOneOf(check, keys, false); });
    return std::move(*this);
  }
  Schema&& ExactlyOneOf(const std::vector<std::string>& keys) && {
    checks_.push_back([keys](const T&, Checker& check) { internal::CheckOneOf(check, keys, true); });
    return std::move(*this);
  }
  /// Runs after all keys were read without a problem: contradictions between keys.
  Schema&& Check(std::function<void(const T&, Checker&)> check) && {
    checks_.push_back(std::move(check));
    return std::move(*this);
  }

  bool Read(const Node& node, Problems& problems, T* out) const {
    if (!node.is_map() && !node.is_null()) {
      problems.Add(node, internal::WrongKind(node, "map"));
      return false;
    }
    bool good = internal::CheckKeys(node, Keys(), Prefixes(), retired_, problems);
    for (const auto& field : fields_) good &= ReadField(field, node, problems, out);
    for (const auto& [key, place, value] : node.Entries()) {
      if (const PrefixEntry* entry = FindPrefix(key)) good &= ReadPrefixed(*entry, key, value, problems, out);
    }
    if (!good) return false;
    Checker checker(node, problems);
    for (const auto& check : checks_) check(*out, checker);
    return !checker.failed();
  }

  /// Appends the keys, and those below them; `path` is that of the map itself, empty for the root.
  void Describe(const std::string& path, std::vector<FieldDoc>* out) const {
    const std::string below = path.empty() ? "" : path + ".";
    for (const auto& field : fields_) field.describe(below + field.key, out);
    for (const auto& entry : prefixed_)
      out->push_back({below + entry.prefix + "<name>", "text", false, {}, {}, entry.doc});
  }

 private:
  struct FieldEntry {
    std::string key;
    std::string doc;
    bool required;
    std::function<bool(const Node&, Problems&, T*)> read;
    std::function<void(const std::string&, std::vector<FieldDoc>*)> describe;
  };

  struct PrefixEntry {
    std::string prefix;
    std::map<std::string, std::string> T::* member;
    std::string doc;
  };

  const PrefixEntry* FindPrefix(std::string_view key) const {
    for (const auto& entry : prefixed_) {
      if (key.size() > entry.prefix.size() && key.starts_with(entry.prefix)) return &entry;
    }
    return nullptr;
  }

  static bool ReadPrefixed(const PrefixEntry& entry, const std::string& key, const Node& value,
                           Problems& problems, T* out) {
    std::string text;
    if (!Text({.allow_empty = true})->Read(value, problems, &text)) return false;
    ((*out).*(entry.member))[key.substr(entry.prefix.size())] = std::move(text);
    return true;
  }

  std::vector<std::string> Prefixes() const {
    std::vector<std::string> prefixes;
    for (const auto& entry : prefixed_) prefixes.push_back(entry.prefix);
    return prefixes;
  }

  template <typename M>
  void Add(std::string key, M T::* member, const TypePtr<typename internal::Unwrapped<M>::type>& type,
           std::string doc, bool required, std::string default_text) {
    using V = typename internal::Unwrapped<M>::type;
    FieldEntry entry;
    entry.key = std::move(key);
    entry.doc = doc;
    entry.required = required;
    entry.read = [member, type](const Node& node, Problems& problems, T* out) {
      V value{};
      if constexpr (std::is_same_v<M, V>) value = std::move((*out).*member);
      const bool good = type->Read(node, problems, &value);
      if (good || std::is_same_v<M, V>) (*out).*member = std::move(value);
      return good;
    };
    if constexpr (std::is_same_v<M, V>) {
      if (!required && default_text.empty()) default_text = type->Show(T{}.*member);
    } else if (!required && default_text.empty() && (T{}.*member).has_value()) {
      default_text = type->Show(*(T{}.*member));
    }
    FieldDoc line{{}, type->name(), required, std::move(default_text), type->allowed(), std::move(doc)};
    entry.describe = [type, line = std::move(line)](const std::string& path, std::vector<FieldDoc>* out) {
      out->push_back(line);
      out->back().path = path;
      type->Describe(path, out);
    };
    fields_.push_back(std::move(entry));
  }

  static bool ReadField(const FieldEntry& field, const Node& node, Problems& problems, T* out) {
    const std::optional<Node> child = node.Find(field.key);
    if (child) return field.read(*child, problems, out);
    if (field.required) problems.Add(node, "the key \"" + field.key + "\" is missing: " + field.doc);
    return !field.required;
  }

  std::vector<std::string> Keys() const {
    std::vector<std::string> keys;
    for (const auto& field : fields_) keys.push_back(field.key);
    return keys;
  }

  std::vector<FieldEntry> fields_;
  std::vector<PrefixEntry> prefixed_;
  std::vector<std::pair<std::string, std::string>> retired_;
  std::vector<std::function<void(const T&, Checker&)>> checks_;
};

namespace internal {

template <typename T>
class ObjectType final : public Type<T> {
 public:
  explicit ObjectType(const Schema<T>& schema) : schema_(schema) {}
  bool Read(const Node& node, Problems& problems, T* out) const override {
    return schema_.Read(node, problems, out);
  }
  std::string name() const override { return "map"; }
  std::string Show(const T& /*value*/) const override { return {}; }
  void Describe(const std::string& path, std::vector<FieldDoc>* out) const override {
    schema_.Describe(path, out);
  }

 private:
  const Schema<T>& schema_;
};

}  // namespace internal

/// A map with a schema of its own, which must live as long (a function's static).
template <typename T>
TypePtr<T> Object(const Schema<T>& schema) {
  return std::make_shared<internal::ObjectType<T>>(schema);
}

}  // namespace firn::config
