#include "firn/iceberg/model/schema.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "firn/iceberg/model/literal.h"

namespace firn::iceberg {

namespace {

constexpr int32_t kMaxFieldId = 2'147'483'447;  // ids above are reserved by the format

constexpr std::array<std::string_view, 10> kReservedNames = {
    "_file",           "_pos",
    "_deleted",        "_spec_id",
    "_partition",      "_change_type",
    "_change_ordinal", "_commit_snapshot_id",
    "_row_id",         "_last_updated_sequence_number"};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// Resolves `path` below the fields of `type`; a column's own name may hold dots.
const NestedField* FindPath(const Type& type, std::string_view path) {
  for (const NestedField& field : type.fields()) {
    if (!path.starts_with(field.name)) continue;
    if (path.size() == field.name.size()) return &field;
    if (path[field.name.size()] != '.') continue;
    if (const NestedField* found = FindPath(*field.type, path.substr(field.name.size() + 1))) return found;
  }
  return nullptr;
}

/// Collects everything that is wrong with a schema.
class SchemaChecker {
 public:
  SchemaChecker(const Schema& schema, int format_version) : schema_(schema), version_(format_version) {}

  Status Check() {
    CheckStruct(*schema_.as_struct(), "");
    for (const int32_t id : schema_.identifier_field_ids()) CheckIdentifier(id);
    if (problems_.empty()) return Ok();
    return Error(ErrorKind::kInvalidArgument, fmt::format("schema: {}", fmt::join(problems_, "; ")));
  }

 private:
  template <typename... Args>
  void Report(fmt::format_string<Args...> format, Args&&... args) {
    problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void CheckStruct(const Type& type, const std::string& prefix) {
    std::map<std::string, std::string> by_lower;
    for (const NestedField& field : type.fields()) {
      const std::string name = prefix + field.name;
      if (field.name.empty()) Report("a field of '{}' has no name", prefix);
      if (prefix.empty() && IsReservedColumnName(field.name))
        Report("column name '{}' is reserved by Iceberg", name);
      const auto [other, is_new] = by_lower.emplace(Lower(field.name), field.name);
      if (!is_new && other->second == field.name) Report("column '{}' is there twice", name);
      if (!is_new && other->second != field.name)
        Report("columns '{}' and '{}' differ only in case", prefix + other->second, name);
      CheckField(field, name);
    }
  }

  void CheckField(const NestedField& field, const std::string& name) {
    // A name may hold dots; Java and PyIceberg load no table in which it is also the path of another column.
    if (const auto [other, is_new] = names_.emplace(name, &field);
        !is_new && other->second->name != field.name)
      Report("'{}' is the name of two columns, one of them in a struct, list or map", name);
    if (field.id < 0 || field.id > kMaxFieldId)
      Report("column '{}' has the reserved or negative id {}", name, field.id);
    if (!ids_.insert(field.id).second) Report("id {} of column '{}' is used twice", field.id, name);
    CheckType(*field.type, field, name);
    if (field.initial_default && version_ < 3)
      Report("column '{}' has an initial default, which needs format version 3", name);
    if (field.type->id() == TypeId::kUnknown && field.required)
      Report("column '{}' of type unknown must be optional", name);
  }

  void CheckType(const Type& type, const NestedField& field, const std::string& name) {
    if (type.is_primitive()) {
      if (type.min_format_version() > version_) {
        Report("column '{}' of type {} needs format version {}, the table has {}", name, type.ToString(),
               type.min_format_version(), version_);
      }
      return;
    }
    if (type.id() == TypeId::kStruct) return CheckStruct(type, name + ".");
    if (type.id() == TypeId::kMap && !field.type->key().required)
      Report("the key of map '{}' must be required", name);
    for (const NestedField& child : type.fields()) CheckField(child, name + "." + child.name);
  }

  void CheckIdentifier(int32_t id) {
    const NestedField* field = schema_.FindById(id);
    if (field == nullptr) return Report("identifier field {} does not exist", id);
    const std::string name = schema_.FullName(id);
    if (!field->type->is_primitive()) Report("identifier field '{}' is not of a primitive type", name);
    if (!field->required) Report("identifier field '{}' is not required", name);
    if (field->type->id() == TypeId::kFloat || field->type->id() == TypeId::kDouble)
      Report("identifier field '{}' is of type {}", name, field->type->ToString());
    for (const int32_t parent_id : schema_.AncestorIds(id)) {
      const NestedField* parent = schema_.FindById(parent_id);
      if (parent->type->id() != TypeId::kStruct)
        Report("identifier field '{}' is inside a list or map", name);
      if (!parent->required)
        Report("identifier field '{}' is inside the optional '{}'", name, schema_.FullName(parent_id));
    }
  }

  const Schema& schema_;
  int version_;
  std::set<int32_t> ids_;
  std::map<std::string, const NestedField*> names_;  ///< by full name
  std::vector<std::string> problems_;
};

/// Rebuilds a type with fresh ids; children of one level get theirs before anything below them.
class FreshIds {
 public:
  explicit FreshIds(int32_t& next_id) : next_id_(next_id) {}

  std::vector<NestedField> Assign(const std::vector<NestedField>& fields) {
    std::vector<NestedField> fresh = fields;
    for (NestedField& field : fresh) {
      new_ids_.emplace(field.id, next_id_);
      field.id = next_id_++;
    }
    for (NestedField& field : fresh) field.type = AssignType(field.type);
    return fresh;
  }

  int32_t NewId(int32_t old_id) const {
    const auto it = new_ids_.find(old_id);
    return it == new_ids_.end() ? old_id : it->second;
  }

 private:
  TypePtr AssignType(const TypePtr& type) {
    if (type->is_primitive()) return type;
    std::vector<NestedField> fields = Assign(type->fields());
    if (type->id() == TypeId::kStruct) return Type::Struct(std::move(fields));
    if (type->id() == TypeId::kList) return Type::List(fields[0].id, fields[0].required, fields[0].type);
    return Type::Map(fields[0].id, fields[0].type, fields[1].id, fields[1].required, fields[1].type);
  }

  int32_t& next_id_;
  std::unordered_map<int32_t, int32_t> new_ids_;
};

}  // namespace

Schema::Schema(int32_t schema_id, std::vector<NestedField> fields, std::vector<int32_t> identifier_field_ids)
    : schema_id_(schema_id),
      struct_(Type::Struct(std::move(fields))),
      identifier_field_ids_(std::move(identifier_field_ids)) {
  const auto index = [this](const auto& self, const Type& type, int32_t parent_id) -> void {
    for (const NestedField& field : type.fields()) {
      by_id_.push_back({field.id, parent_id, &field});
      self(self, *field.type, field.id);
    }
  };
  index(index, *struct_, kNoParent);
  std::ranges::sort(by_id_, {}, &Entry::id);
}

const Schema::Entry* Schema::FindEntry(int32_t id) const {
  const auto it = std::ranges::lower_bound(by_id_, id, {}, &Entry::id);
  return it == by_id_.end() || it->id != id ? nullptr : &*it;
}

const NestedField* Schema::FindById(int32_t id) const {
  const Entry* entry = FindEntry(id);
  return entry == nullptr ? nullptr : entry->field;
}

const NestedField* Schema::FindByName(std::string_view dotted_path) const {
  return FindPath(*struct_, dotted_path);
}

std::vector<int32_t> Schema::AncestorIds(int32_t id) const {
  std::vector<int32_t> ancestors;
  for (const Entry* entry = FindEntry(id); entry != nullptr && entry->parent_id != kNoParent;
       entry = FindEntry(entry->parent_id)) {
    if (ancestors.size() > by_id_.size()) break;  // ids used twice may form a ring
    ancestors.push_back(entry->parent_id);
  }
  return ancestors;
}

std::string Schema::FullName(int32_t id) const {
  const NestedField* field = FindById(id);
  if (field == nullptr) return "";
  std::string name = field->name;
  for (const int32_t parent : AncestorIds(id)) name.insert(0, FindById(parent)->name + ".");
  return name;
}

int32_t Schema::highest_field_id() const { return by_id_.empty() ? 0 : by_id_.back().id; }

bool Schema::SameFields(const Schema& other) const {
  return struct_->Equals(*other.struct_) &&
         std::set<int32_t>(identifier_field_ids_.begin(), identifier_field_ids_.end()) ==
             std::set<int32_t>(other.identifier_field_ids_.begin(), other.identifier_field_ids_.end());
}

SchemaPtr Schema::WithId(int32_t schema_id) const {
  auto copy = std::make_shared<Schema>(*this);
  copy->schema_id_ = schema_id;
  return copy;
}

Status ValidateSchema(const Schema& schema, int format_version) {
  return SchemaChecker(schema, format_version).Check();
}

bool IsReservedColumnName(std::string_view name) {
  return std::ranges::find(kReservedNames, name) != kReservedNames.end();
}

SchemaPtr AssignFreshIds(const Schema& schema, int32_t& next_id) {
  FreshIds ids(next_id);
  std::vector<NestedField> fields = ids.Assign(schema.fields());
  std::vector<int32_t> identifiers = schema.identifier_field_ids();
  for (int32_t& id : identifiers) id = ids.NewId(id);
  return std::make_shared<Schema>(schema.schema_id(), std::move(fields), std::move(identifiers));
}

void VisitFields(const Type& type, const std::function<void(const NestedField&)>& visit) {
  for (const NestedField& field : type.fields()) {
    visit(field);
    VisitFields(*field.type, visit);
  }
}

}  // namespace firn::iceberg
