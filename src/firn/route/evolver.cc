#include "firn/route/evolver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace firn::route {

using iceberg::NestedField;
using iceberg::Schema;
using iceberg::SchemaPtr;
using iceberg::Type;
using iceberg::TypeId;
using iceberg::TypePtr;
using record::Evolution;
using record::RefusedChange;
using record::SchemaDelta;

namespace {

constexpr int32_t kRoot = 0;

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

int32_t CountFields(const Type& type) {
  int32_t count = 0;
  for (const NestedField& field : type.fields()) {
    count += (type.id() == TypeId::kStruct ? 1 : 0) + CountFields(*field.type);
  }
  return count;
}

/// One delta against one table.
class Planner {
 public:
  Planner(const SchemaDelta& delta, const iceberg::TableMetadata& table, const EvolutionPolicy& policy)
      : delta_(delta),
        table_(table),
        schema_(*table.schema()),
        policy_(policy),
        field_count_(CountFields(*schema_.as_struct())) {}

  Evolved Plan() {
    for (const auto& field : delta_.added) PlanField(field);
    for (const auto& widened : delta_.widened) PlanWidening(widened);
    if (added_.empty() && widened_.empty()) {
      if (refused_.empty()) return Compatible{};
      return Incompatible{refused_, Why()};
    }
    SchemaPtr schema = Build();
    if (const Status valid = iceberg::ValidateSchema(*schema, table_.format_version); !valid.ok()) {
      return RefuseAll(valid.error().message());
    }
    std::vector<iceberg::Update> updates = {iceberg::update::AddSchema{schema},
                                            iceberg::update::SetCurrentSchema{-1}};
    return Change{std::move(schema), std::move(updates), refused_,
                  fmt::format("{}", fmt::join(summary_, ", "))};
  }

 private:
  using NewField = SchemaDelta::NewField;
  using WidenedField = SchemaDelta::WidenedField;

  void PlanField(const NewField& field) {
    const Type* parent = ParentOf(field);
    if (parent == nullptr || parent->FindField(field.name) != nullptr) return;
    if (std::string why = WhyNotAdded(field, *parent); !why.empty()) {
      refused_.push_back({field.parent_id, field.name, std::move(why)});
      return;
    }
    field_count_ += 1 + CountFields(*field.type);
    added_.push_back(field);
    added_names_.merge(NamesOf(field));
    summary_.push_back(fmt::format("adds {} ({})", PathOf(field), field.type->ToString()));
  }

  /// Null when the struct is gone.
  const Type* ParentOf(const NewField& field) const {
    if (field.parent_id == kRoot) return schema_.as_struct().get();
    const NestedField* parent = schema_.FindById(field.parent_id);
    return parent != nullptr && parent->type->id() == TypeId::kStruct ? parent->type.get() : nullptr;
  }

  std::string WhyNotAdded(const NewField& field, const Type& parent) const {
    if (policy_.evolution == Evolution::kNone) return "schema_evolution is none";
    if (const Type* newer = FindNewer(*field.type)) {
      return fmt::format("{} needs a table of format version {}", newer->ToString(),
                         newer->min_format_version());
    }
    if (field.name.empty()) return "it has no name";
    if (field.parent_id == kRoot && iceberg::IsReservedColumnName(field.name))
      return "Iceberg reserves the name";
    if (const auto taken = VariantOf(field, parent))
      return fmt::format("it differs only in case from '{}'", *taken);
    if (field.parent_id == kRoot && IsPartitionFieldName(field.name))
      return "a partition field of the table has this name";
    if (const auto taken = TakenName(field)) return fmt::format("'{}' is the name of another field", *taken);
    if (InsideMapKey(field.parent_id)) return "the keys of a map cannot change";
    if (field_count_ + 1 + CountFields(*field.type) > policy_.max_columns) {
      return fmt::format("the table would have more than max_columns ({}) columns", policy_.max_columns);
    }
    return {};
  }

  /// A part of the type that the table's format version does not have yet; null when there is none.
  const Type* FindNewer(const Type& type) const {
    if (type.min_format_version() > table_.format_version) return &type;
    for (const NestedField& field : type.fields()) {
      if (const Type* newer = FindNewer(*field.type)) return newer;
    }
    return nullptr;
  }

  std::optional<std::string> VariantOf(const NewField& field, const Type& parent) const {
    for (const NestedField& sibling : parent.fields()) {
      if (EqualsIgnoringCase(sibling.name, field.name)) return sibling.name;
    }
    for (const NewField& sibling : added_) {
      if (sibling.parent_id == field.parent_id && EqualsIgnoringCase(sibling.name, field.name))
        return sibling.name;
    }
    return std::nullopt;
  }

  /// A full name of the field or of one inside it that another field has: names may hold dots.
  std::optional<std::string> TakenName(const NewField& field) const {
    const std::set<std::string> own = NamesOf(field);
    const auto taken = std::ranges::find_if(own, [this](const std::string& name) {
      return schema_.FindByName(name) != nullptr || added_names_.contains(name);
    });
    return taken == own.end() ? std::nullopt : std::optional(*taken);
  }

  std::set<std::string> NamesOf(const NewField& field) const {
    std::set<std::string> names = {PathOf(field)};
    AddNames(*field.type, PathOf(field) + ".", names);
    return names;
  }

  static void AddNames(const Type& type, const std::string& prefix, std::set<std::string>& names) {
    for (const NestedField& field : type.fields()) {
      names.insert(prefix + field.name);
      AddNames(*field.type, prefix + field.name + ".", names);
    }
  }

  bool IsPartitionFieldName(std::string_view name) const {
    return std::ranges::any_of(table_.partition_specs, [&](const iceberg::PartitionSpec& spec) {
      return std::ranges::any_of(spec.fields,
                                 [&](const iceberg::PartitionField& field) { return field.name == name; });
    });
  }

  bool InsideMapKey(int32_t id) const {
    for (const int32_t parent_id : schema_.AncestorIds(id)) {
      const Type& parent = *schema_.FindById(parent_id)->type;
      if (parent.id() == TypeId::kMap && parent.key().id == id) return true;
      id = parent_id;
    }
    return false;
  }

  std::string PathOf(const NewField& field) const {
    return field.parent_id == kRoot ? field.name
                                    : fmt::format("{}.{}", schema_.FullName(field.parent_id), field.name);
  }

  void PlanWidening(const WidenedField& widened) {
    const NestedField* field = schema_.FindById(widened.field_id);
    if (field == nullptr || HoldsAlready(*field->type, *widened.type)) return;
    if (std::string why = WhyNotWidened(*field, *widened.type); !why.empty()) {
      refused_.push_back({widened.field_id, {}, std::move(why)});
      return;
    }
    widened_[field->id] = widened.type;
    summary_.push_back(fmt::format("widens {} from {} to {}", schema_.FullName(field->id),
                                   field->type->ToString(), widened.type->ToString()));
  }

  bool HoldsAlready(const Type& current, const Type& wanted) const {
    return current.Equals(wanted) || iceberg::CanPromote(wanted, current, table_.format_version);
  }

  std::string WhyNotWidened(const NestedField& field, const Type& wanted) const {
    if (policy_.evolution != Evolution::kAddAndWiden) return "schema_evolution does not widen";
    if (InsideMapKey(field.id)) return "the keys of a map cannot change";
    if (!iceberg::CanPromote(*field.type, wanted, table_.format_version)) {
      return fmt::format("the format does not let {} become {}", field.type->ToString(), wanted.ToString());
    }
    return {};
  }

  SchemaPtr Build() const {
    std::vector<NestedField> fresh;
    for (const NewField& field : added_) {
      NestedField column;
      column.name = field.name;
      column.type = field.type;
      column.doc = field.doc;
      fresh.push_back(std::move(column));
    }
    int32_t next_id = std::max(table_.last_column_id, schema_.highest_field_id()) + 1;
    const SchemaPtr with_ids = iceberg::AssignFreshIds(Schema(0, std::move(fresh)), next_id);
    std::multimap<int32_t, NestedField> by_parent;
    for (size_t i = 0; i < added_.size(); ++i) by_parent.emplace(added_[i].parent_id, with_ids->fields()[i]);
    int32_t schema_id = 0;
    for (const SchemaPtr& schema : table_.schemas) schema_id = std::max(schema_id, schema->schema_id() + 1);
    return std::make_shared<const Schema>(schema_id, Rebuild(*schema_.as_struct(), kRoot, by_parent),
                                          schema_.identifier_field_ids());
  }

  /// Fields of a nested type with the changes below, and the new ones of `struct_id` at the end.
  std::vector<NestedField> Rebuild(const Type& type, int32_t struct_id,
                                   const std::multimap<int32_t, NestedField>& by_parent) const {
    std::vector<NestedField> fields = type.fields();
    for (NestedField& field : fields) field.type = RebuildType(field, by_parent);
    if (type.id() != TypeId::kStruct) return fields;
    const auto [begin, end] = by_parent.equal_range(struct_id);
    for (auto it = begin; it != end; ++it) fields.push_back(it->second);
    return fields;
  }

  TypePtr RebuildType(const NestedField& field, const std::multimap<int32_t, NestedField>& by_parent) const {
    if (const auto wider = widened_.find(field.id); wider != widened_.end()) return wider->second;
    if (field.type->is_primitive()) return field.type;
    std::vector<NestedField> fields = Rebuild(*field.type, field.id, by_parent);
    switch (field.type->id()) {
      case TypeId::kList:
        return Type::List(fields[0].id, fields[0].required, fields[0].type);
      case TypeId::kMap:
        return Type::Map(fields[0].id, fields[0].type, fields[1].id, fields[1].required, fields[1].type);
      default:
        return Type::Struct(std::move(fields));
    }
  }

  std::string Why() const {
    std::vector<std::string> reasons;
    for (const RefusedChange& change : refused_) {
      const std::string subject =
          change.name.empty()
              ? fmt::format("column '{}' cannot be widened", schema_.FullName(change.field_id))
              : fmt::format("field '{}' cannot be added", change.name);
      reasons.push_back(fmt::format("{}: {}", subject, change.why));
    }
    return fmt::format("{}", fmt::join(reasons, "; "));
  }

  Incompatible RefuseAll(const std::string& why) {
    for (const NewField& field : added_) refused_.push_back({field.parent_id, field.name, why});
    for (const auto& [field_id, type] : widened_) refused_.push_back({field_id, {}, why});
    return {refused_, Why()};
  }

  const SchemaDelta& delta_;
  const iceberg::TableMetadata& table_;
  const Schema& schema_;
  const EvolutionPolicy& policy_;
  int32_t field_count_;
  std::vector<NewField> added_;
  std::set<std::string> added_names_;  ///< full names of these and of what is in them
  std::map<int32_t, TypePtr> widened_;
  std::vector<RefusedChange> refused_;
  std::vector<std::string> summary_;
};

}  // namespace

Evolved Evolve(const SchemaDelta& delta, const iceberg::TableMetadata& table, const EvolutionPolicy& policy) {
  return Planner(delta, table, policy).Plan();
}

}  // namespace firn::route
