#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "firn/decode/column.h"

namespace firn::decode {

class ObjectShape;

/// One key that an object may have, or was seen to have, and what becomes of its value.
struct KeySlot {
  enum class Action : uint8_t {
    kColumn,   ///< goes to `column`
    kObject,   ///< an object on the way to mapped columns (`from: a.b`)
    kUnknown,  ///< the schema has no room for it
  };

  std::string name;
  std::string
      quoted;  ///< name and closing quote as they stand in a record; empty where the name needs escapes there
  Action action = Action::kUnknown;
  bool addable = false;  ///< kUnknown: evolution may make it a column
  std::string why_not;   ///< kUnknown, not addable: why, for people
  Column* column = nullptr;
  ObjectShape* object = nullptr;
  KeySlot* next = nullptr;  ///< the key that followed last time

  /// Whether the key behind an opening quote is this one. `end` is where the text ends.
  bool Matches(const uint8_t* key, const uint8_t* end) const {
    return !quoted.empty() && quoted.size() <= static_cast<size_t>(end - key) &&
           std::memcmp(key, quoted.data(), quoted.size()) == 0;
  }
};

/// The keys of one kind of object: the record itself, a struct column's value, or an object on the way to a
/// mapped column. Learns the order in which keys come: records of one topic mostly have the same one, so the
/// next key costs one comparison.
class ObjectShape {
 public:
  /// Unknown keys that are remembered; the ones beyond are looked at afresh each time.
  static constexpr size_t kMaxUnknown = 1000;

  /// `owner`: the struct column whose rows the object fills. `parent_id`: where new fields would go; -1:
  /// nowhere.
  ObjectShape(Column* owner, int32_t parent_id) : owner_(owner), parent_id_(parent_id) {}

  Column* owner() const { return owner_; }
  int32_t parent_id() const { return parent_id_; }

  /// Null when the key is there already.
  KeySlot* Add(std::string_view name, KeySlot::Action action);
  KeySlot* Find(std::string_view name) const;
  /// A slot for a key that is not in here; the caller settles whether it is addable (`is_new`). Valid until
  /// the next call.
  KeySlot* Remember(std::string_view name);

  /// Stands before the first key.
  KeySlot* head() { return &head_; }

 private:
  KeySlot* Insert(std::string_view name, KeySlot::Action action);

  Column* owner_;
  int32_t parent_id_;
  KeySlot head_;
  KeySlot overflow_;
  size_t unknown_count_ = 0;
  std::vector<std::unique_ptr<KeySlot>> slots_;
  std::unordered_map<std::string_view, KeySlot*> by_name_;
};

}  // namespace firn::decode
