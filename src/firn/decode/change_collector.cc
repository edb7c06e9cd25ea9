#include "firn/decode/change_collector.h"

#include <algorithm>

namespace firn::decode {

bool ChangeCollector::IsVariantOfTaken(const Key& key, const std::vector<Staged>& staged) const {
  const auto is_variant = [&](const Key& other) {
    return other.first == key.first && other.second != key.second &&
           EqualsIgnoringCase(other.second, key.second);
  };
  return std::any_of(order_.begin(), order_.end(), is_variant) ||
         std::any_of(staged.begin(), staged.end(),
                     [&](const Staged& field) { return is_variant(field.key); });
}

std::vector<ChangeCollector::Staged> ChangeCollector::Stage(const Needs& needs, int32_t* growth) const {
  std::vector<Staged> staged;
  for (const Needs::Field& field : needs.added) {
    Key key(field.parent_id, field.name);
    const auto known = added_.find(key);
    if (known == added_.end()) {
      // The first spelling becomes the column; the others are unknown fields once it is there.
      if (IsVariantOfTaken(key, staged)) continue;
      *growth += field.type.CountFields();
      staged.push_back({std::move(key), field.type, true});
      continue;
    }
    InferredType merged = known->second;
    merged.Merge(field.type);
    // What conflicts with an earlier record's type is this record's trouble, when the column is there.
    if (!merged.FindConflict().empty()) continue;
    *growth += merged.CountFields() - known->second.CountFields();
    staged.push_back({std::move(key), std::move(merged), false});
  }
  return staged;
}

bool ChangeCollector::Add(const Needs& needs) {
  int32_t growth = 0;
  std::vector<Staged> staged = Stage(needs, &growth);
  if (growth > room_) return false;
  room_ -= growth;
  for (Staged& field : staged) {
    if (field.is_new) order_.push_back(field.key);
    added_[std::move(field.key)] = std::move(field.type);
  }
  for (const Needs::Widening& widening : needs.widened) {
    iceberg::TypePtr& type = widened_[widening.field_id];
    if (type == nullptr || type->precision() < widening.type->precision()) type = widening.type;
  }
  return true;
}

record::SchemaDelta ChangeCollector::Take() const {
  record::SchemaDelta delta;
  for (const Key& key : order_) {
    const InferredType& type = added_.at(key);
    delta.added.push_back({key.first, key.second, type.ToIceberg(), type.doc});
  }
  for (const auto& [field_id, type] : widened_) delta.widened.push_back({field_id, type});
  return delta;
}

}  // namespace firn::decode
