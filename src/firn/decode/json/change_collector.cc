#include "firn/decode/json/change_collector.h"

namespace firn::decode {

bool ChangeCollector::Add(const Needs& needs) {
  auto added = added_;
  auto order = order_;
  for (const Needs::Field& field : needs.added) {
    const std::pair key(field.parent_id, field.name);
    const auto is_variant = [&](const auto& other) {
      return other.first == key.first && other.second != key.second &&
             EqualsIgnoringCase(other.second, key.second);
    };
    // The first spelling becomes the column; the others are unknown fields once it is there.
    if (std::any_of(order.begin(), order.end(), is_variant)) continue;
    const auto [entry, is_new] = added.try_emplace(key, field.type);
    if (is_new) {
      order.push_back(key);
      continue;
    }
    InferredType merged = entry->second;
    merged.Merge(field.type);
    // What conflicts with the first record's type is that record's trouble, when the column is there.
    if (merged.FindConflict().empty()) entry->second = std::move(merged);
  }
  int32_t fields = 0;
  for (const auto& [key, type] : added) fields += type.CountFields();
  if (fields > room_) return false;
  added_ = std::move(added);
  order_ = std::move(order);
  for (const Needs::Widening& widening : needs.widened) {
    iceberg::TypePtr& type = widened_[widening.field_id];
    if (type == nullptr || type->precision() < widening.type->precision()) type = widening.type;
  }
  return true;
}

record::SchemaDelta ChangeCollector::Take() const {
  record::SchemaDelta delta;
  for (const auto& key : order_) delta.added.push_back({key.first, key.second, added_.at(key).ToIceberg()});
  for (const auto& [field_id, type] : widened_) delta.widened.push_back({field_id, type});
  return delta;
}

}  // namespace firn::decode
