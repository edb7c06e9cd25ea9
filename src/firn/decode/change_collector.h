#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "firn/decode/evolution.h"
#include "firn/record/schema_delta.h"

namespace firn::decode {

/// Joins what several records need into one schema delta, so that ten new fields do not cost ten commits.
class ChangeCollector {
 public:
  /// `field_count`: named fields the schema has; `max_columns`: most it may have.
  ChangeCollector(int32_t field_count, int32_t max_columns) : room_(max_columns - field_count) {}

  /// False, and nothing taken, when the record's new fields do not fit any more.
  bool Add(const Needs& needs);
  record::SchemaDelta Take() const;

 private:
  using Key = std::pair<int32_t, std::string>;  ///< parent id, name
  struct Staged {
    Key key;
    InferredType type;
    bool is_new = false;
  };

  bool IsVariantOfTaken(const Key& key, const std::vector<Staged>& staged) const;
  std::vector<Staged> Stage(const Needs& needs, int32_t* growth) const;

  std::map<Key, InferredType> added_;
  std::vector<Key> order_;
  std::map<int32_t, iceberg::TypePtr> widened_;
  int32_t room_;
};

}  // namespace firn::decode
