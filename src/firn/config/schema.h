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

template <typename M>
struct Unwrapped {
  using type = M;
};
template <typename V>
struct Unwrapped<std::optional<V>> {
  using type = V;
};

/// Reads one key into the struct at `out`.
class FieldReader {
 public:
  virtual ~FieldReader() = default;
  virtual bool Read(const Node& node, Problems& problems, void* out) const = 0;
};

/// What a schema does that does not depend on the struct it fills; compiled once.
class SchemaKeys {
 public:
  struct Field {
    std::string key;
    FieldDoc line;  ///< its path is filled in by Describe
    std::shared_ptr<const DescribedType> type;
    std::shared_ptr<const FieldReader> reader;
  };
  using TextMap = std::map<std::string, std::string>;
  struct Prefix {
    std::string prefix;
    std::string doc;
    std::function<TextMap&(void*)> map;
  };
  using Check = std::function<void(const void*, Checker&)>;

  void Add(std::string key, std::string doc, bool required, std::string default_text,
           std::shared_ptr<const DescribedType> type, std::shared_ptr<const FieldReader> reader);
  void Add(Prefix prefix) { prefixed_.push_back(std::move(prefix)); }
  void AddRetired(std::string key, std::string instead);
  void AddCheck(Check check) { checks_.push_back(std::move(check)); }
  void AddOneOf(std::vector<std::string> keys, bool required);

  bool Read(const Node& node, Problems& problems, void* out) const;
  void Describe(const std::string& path, std::vector<FieldDoc>* out) const;

 private:
  bool CheckKeys(const Node& node, Problems& problems) const;
  bool ReadPrefixed(const Node::Entry& entry, Problems& problems, void* out) const;
  const Prefix* FindPrefix(std::string_view key) const;

  std::vector<Field> fields_;
  std::vector<Prefix> prefixed_;
  std::vector<std::pair<std::string, std::string>> retired_;
  std::vector<Check> checks_;
};

template <typename T, typename M>
class MemberReader final : public FieldReader {
 public:
  using V = typename Unwrapped<M>::type;

  MemberReader(M T::* member, TypePtr<V> type) : member_(member), type_(std::move(type)) {}

  bool Read(const Node& node, Problems& problems, void* out) const override {
    M& member = static_cast<T*>(out)->*member_;
    if constexpr (std::is_same_v<M, V>) {
      return type_->Read(node, problems, &member);
    } else {
      V value{};
      if (!type_->Read(node, problems, &value)) return false;
      member = std::move(value);
      return true;
    }
  }

  /// As one would write it; empty: none.
  std::string ShowDefault() const {
    const T defaults{};
    const M& member = defaults.*member_;
    if constexpr (std::is_same_v<M, V>) {
      return type_->Show(member);
    } else {
      return member ? type_->Show(*member) : std::string();
    }
  }

 private:
  M T::* member_;
  TypePtr<V> type_;
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
    auto reader = std::make_shared<internal::MemberReader<T, M>>(member, type);
    if (default_text.empty()) default_text = reader->ShowDefault();
    keys_.Add(std::move(key), std::move(doc), false, std::move(default_text), type, std::move(reader));
    return std::move(*this);
  }
  /// A key that must be written.
  template <typename M>
  Schema&& Required(std::string key, M T::* member,
                    const TypePtr<typename internal::Unwrapped<M>::type>& type, std::string doc) && {
    auto reader = std::make_shared<internal::MemberReader<T, M>>(member, type);
    keys_.Add(std::move(key), std::move(doc), true, {}, type, std::move(reader));
    return std::move(*this);
  }
  /// Every key that begins with `prefix` ("header."): the rest of the key names a text of the map.
  Schema&& Prefixed(std::string prefix, std::map<std::string, std::string> T::* member, std::string doc) && {
    keys_.Add({std::move(prefix), std::move(doc),
               [member](void* out) -> auto& { return static_cast<T*>(out)->*member; }});
    return std::move(*this);
  }
  /// A key of former versions: an error that says what to write instead.
  Schema&& Retired(std::string key, std::string instead) && {
    keys_.AddRetired(std::move(key), std::move(instead));
    return std::move(*this);
  }
  /// At most one of these keys.
  Schema&& Exclusive(std::vector<std::string> keys) && {
    keys_.AddOneOf(std::move(keys), false);
    return std::move(*this);
  }
  Schema&& ExactlyOneOf(std::vector<std::string> keys) && {
    keys_.AddOneOf(std::move(keys), true);
    return std::move(*this);
  }
  /// Runs after all keys were read without a problem: contradictions between keys.
  Schema&& Check(std::function<void(const T&, Checker&)> check) && {
    keys_.AddCheck([check = std::move(check)](const void* value, Checker& checker) {
      check(*static_cast<const T*>(value), checker);
    });
    return std::move(*this);
  }

  bool Read(const Node& node, Problems& problems, T* out) const { return keys_.Read(node, problems, out); }

  /// Appends the keys, and those below them; `path` is that of the map itself, empty for the root.
  void Describe(const std::string& path, std::vector<FieldDoc>* out) const { keys_.Describe(path, out); }

 private:
  internal::SchemaKeys keys_;
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
