#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "firn/base/result.h"
#include "firn/iceberg/model/type.h"

namespace firn::iceberg {

class Schema;
using SchemaPtr = std::shared_ptr<const Schema>;

/// A table schema: a struct with an id. Immutable.
class Schema {
 public:
  Schema(int32_t schema_id, std::vector<NestedField> fields, std::vector<int32_t> identifier_field_ids = {});

  int32_t schema_id() const { return schema_id_; }
  const std::vector<NestedField>& fields() const { return struct_->fields(); }
  const TypePtr& as_struct() const { return struct_; }
  const std::vector<int32_t>& identifier_field_ids() const { return identifier_field_ids_; }

  /// Any field at any depth by id; null when there is none.
  const NestedField* FindById(int32_t id) const;
  /// Any field by dotted path (`a.b`, list children `a.element`, map children `a.key`/`a.value`); exact case.
  const NestedField* FindByName(std::string_view dotted_path) const;
  /// Dotted path of a field id, empty when unknown.
  std::string FullName(int32_t id) const;
  int32_t highest_field_id() const;
  /// Same fields, types, ids, docs and identifier fields; schema-id ignored.
  bool SameFields(const Schema& other) const;
  SchemaPtr WithId(int32_t schema_id) const;
  /// Ids of the fields that enclose `id`, the nearest first; empty for a top-level or unknown field.
  std::vector<int32_t> AncestorIds(int32_t id) const;

 private:
  struct Entry {
    int32_t id;
    int32_t parent_id;  ///< kNoParent at top level
    const NestedField* field;
  };
  static constexpr int32_t kNoParent = -1;

  const Entry* FindEntry(int32_t id) const;

  int32_t schema_id_;
  TypePtr struct_;
  std::vector<int32_t> identifier_field_ids_;
  std::vector<Entry> by_id_;  ///< sorted by id; points into struct_, which copies share
};

/// Duplicate or reserved ids and names, names that differ only in case, types newer than the version,
/// bad identifier fields, map keys that are optional ...: one message with all of them.
Status ValidateSchema(const Schema& schema, int format_version);

/// Column names Iceberg reserves (`_file`, `_pos`, ...): refused as user columns.
bool IsReservedColumnName(std::string_view name);

/// Gives every field a fresh id by depth-first pre-order as Java's assignFreshIds does (top-level fields of a
/// struct first, then their children), starting at `next_id`; returns the schema and advances `next_id`.
SchemaPtr AssignFreshIds(const Schema& schema, int32_t& next_id);

nlohmann::json ToJson(const Schema& schema);
nlohmann::json ToJson(const Type& type);
/// Errors of reading are kCorrupt and name the field.
Result<SchemaPtr> SchemaFromJson(const nlohmann::json& json);
Result<TypePtr> TypeFromJson(const nlohmann::json& json);

/// Calls `visit` for every field at every depth, parents first.
void VisitFields(const Type& type, const std::function<void(const NestedField&)>& visit);

}  // namespace firn::iceberg
