#include "firn/decode/json/object_shape.h"

#include <algorithm>

namespace firn::decode {

namespace {

bool NeedsEscape(std::string_view name) {
  return std::any_of(name.begin(), name.end(),
                     [](char c) { return c == '"' || c == '\\' || static_cast<uint8_t>(c) < 0x20; });
}

}  // namespace

KeySlot* ObjectShape::Insert(std::string_view name, KeySlot::Action action) {
  auto slot = std::make_unique<KeySlot>();
  slot->name = name;
  if (!NeedsEscape(name)) slot->quoted = slot->name + '"';
  slot->action = action;
  KeySlot* added = slot.get();
  by_name_.emplace(added->name, added);
  slots_.push_back(std::move(slot));
  return added;
}

KeySlot* ObjectShape::Add(std::string_view name, KeySlot::Action action) {
  return by_name_.contains(name) ? nullptr : Insert(name, action);
}

KeySlot* ObjectShape::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

KeySlot* ObjectShape::Remember(std::string_view name) {
  if (unknown_count_ < kMaxUnknown) {
    ++unknown_count_;
    return Insert(name, KeySlot::Action::kUnknown);
  }
  overflow_ = KeySlot();
  overflow_.name = name;
  return &overflow_;
}

}  // namespace firn::decode
