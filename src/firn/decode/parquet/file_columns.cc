#include "firn/decode/parquet/file_columns.h"

#include <arrow/api.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "firn/decode/evolution.h"
#include "firn/decode/field_path.h"
#include "firn/decode/parquet/parquet_format.h"
#include "firn/iceberg/scan/arrow_schema.h"
#include "firn/iceberg/scan/name_mapping.h"

namespace firn::decode {

using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;
using iceberg::TypePtr;

namespace {

bool HasIds(const arrow::FieldVector& fields) {
  return std::ranges::any_of(fields, [](const auto& field) {
    return iceberg::FieldIdOf(*field).has_value() || HasIds(field->type()->fields());
  });
}

TypePtr Optional(const Type& type, bool is_int96);

NestedField Optional(NestedField field, bool is_int96) {
  field.id = 0;
  field.required = false;
  field.type = Optional(*field.type, is_int96);
  return field;
}

TypePtr Optional(const Type& type, bool is_int96) {
  switch (type.id()) {
    case TypeId::kTimestampNs:
    case TypeId::kTimestamp:
      return Type::Primitive(is_int96 ? TypeId::kTimestampTz : TypeId::kTimestamp);
    case TypeId::kTimestampTzNs:
      return Type::Primitive(TypeId::kTimestampTz);
    case TypeId::kList:
      return Type::List(0, false, Optional(*type.element().type, is_int96));
    case TypeId::kMap:
      return Type::Map(0, Optional(*type.key().type, is_int96), 0, false,
                       Optional(*type.value().type, is_int96));
    case TypeId::kStruct: {
      std::vector<NestedField> fields;
      for (const NestedField& field : type.fields()) fields.push_back(Optional(field, is_int96));
      return Type::Struct(std::move(fields));
    }
    default:
      return type.id() == TypeId::kDecimal ? Type::Decimal(type.precision(), type.scale())
             : type.id() == TypeId::kFixed ? Type::Fixed(type.length())
                                           : Type::Primitive(type.id());
  }
}

bool HoldsNothing(const Type& type) {
  return type.id() == TypeId::kUnknown || std::ranges::any_of(type.fields(), [](const NestedField& field) {
           return HoldsNothing(*field.type);
         });
}

using Names = std::vector<iceberg::MappedField>;

/// One file's schema against one table's.
class Matcher {
 public:
  Matcher(const arrow::Schema& file, const BoundSchema& bound, ParquetMatch match,
          const iceberg::NameMapping* mapping)
      : file_(file),
        bound_(bound),
        by_id_(match == ParquetMatch::kId && HasIds(file.fields())),
        mapped_(mapping == nullptr || HasIds(file.fields()) ? nullptr : &mapping->fields),
        int96_(Int96ColumnsOf(file)) {}

  Result<FileColumns> Match(Column& root) {
    std::set<int> taken;
    for (const auto& child : root.children()) {
      FIRN_ASSIGN(FileSource source, MatchTopLevel(*child));
      if (source.index >= 0 && source.path.empty()) taken.insert(source.index);
      if (!source.path.empty()) mapped_into_[source.index].insert(source.path[0]);
      result_.sources.push_back(std::move(source));
    }
    for (int i = 0; i < file_.num_fields(); ++i) {
      if (!taken.contains(i)) TakeUnknown(i);
    }
    return std::move(result_);
  }

 private:
  Result<FileSource> MatchTopLevel(Column& column) {
    FileSource source;
    source.column = &column;
    const NestedField& field = column.field();
    const bool is_rescued = bound_.unknown_fields == UnknownFields::kRescue && field.name == kRescuedColumn;
    if (field.name == kKafkaColumn || is_rescued) return source;
    const auto mapping = bound_.mappings.find(field.id);
    if (mapping != bound_.mappings.end() && !mapping->second.from.empty()) {
      FIRN_TRY(FollowPath(mapping->second.from, source));
    } else {
      source.index = Find(file_.fields(), field, mapped_);
    }
    if (source.index < 0) return source;
    const auto& top = file_.field(source.index);
    top_ = source.index;
    source.is_int96 = int96_.contains(top->name());
    std::shared_ptr<arrow::DataType> type = top->type();
    for (const int step : source.path) type = type->field(step)->type();
    const bool by_name = source.path.empty();  // `from` leads past the mapping's levels
    MatchType(*type, field.name, source, by_name ? Below(mapped_, top->name()) : nullptr);
    return source;
  }

  /// Names of the fields inside of one; null where the mapping has none.
  static const Names* Below(const Names* names, std::string_view name) {
    const iceberg::MappedField* field = names == nullptr ? nullptr : iceberg::FindMapped(*names, name);
    return field == nullptr ? nullptr : &field->fields;
  }

  int Find(const arrow::FieldVector& fields, const NestedField& wanted, const Names* names) const {
    const auto found = std::ranges::find_if(fields, [&](const auto& field) {
      if (by_id_) return iceberg::FieldIdOf(*field) == wanted.id;
      const iceberg::MappedField* mapped =
          names == nullptr ? nullptr : iceberg::FindMapped(*names, field->name());
      return mapped != nullptr && mapped->field_id ? mapped->field_id == wanted.id
                                                   : field->name() == wanted.name;
    });
    return found == fields.end() ? -1 : static_cast<int>(found - fields.begin());
  }

  Status FollowPath(std::string_view from, FileSource& source) const {
    const std::vector<std::string> parts = SplitFieldPath(from);
    if (parts.empty()) {
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("column '{}': from: '{}' is no path of field names",
                               source.column->field().name, from));
    }
    source.index = file_.GetFieldIndex(parts[0]);
    if (source.index < 0) return Ok();
    std::shared_ptr<arrow::DataType> type = file_.field(source.index)->type();
    for (size_t i = 1; i < parts.size(); ++i) {
      const int step = type->id() == arrow::Type::STRUCT
                           ? static_cast<const arrow::StructType&>(*type).GetFieldIndex(parts[i])
                           : -1;
      if (step < 0) {
        source.index = -1;
        source.path.clear();
        return Ok();
      }
      source.path.push_back(step);
      type = type->field(step)->type();
    }
    return Ok();
  }

  void MatchType(const arrow::DataType& type, const std::string& path, FileSource& source,
                 const Names* names) {
    Column& column = *source.column;
    switch (column.type_id()) {
      case TypeId::kStruct:
        if (type.id() == arrow::Type::STRUCT) MatchStruct(type, path, source, names);
        break;
      case TypeId::kList:
        if (type.num_fields() == 1)
          MatchChild(column.child(0), 0, *type.field(0)->type(), path, source, Below(names, "element"));
        break;
      case TypeId::kMap:
        if (type.id() != arrow::Type::MAP) break;
        MatchChild(column.child(0), 0, *static_cast<const arrow::MapType&>(type).key_type(), path, source,
                   Below(names, "key"));
        MatchChild(column.child(1), 1, *static_cast<const arrow::MapType&>(type).item_type(), path, source,
                   Below(names, "value"));
        break;
      default:
        MatchPrimitive(type, source);
        break;
    }
  }

  void MatchChild(Column& column, int index, const arrow::DataType& type, const std::string& path,
                  FileSource& parent, const Names* names) {
    FileSource child;
    child.column = &column;
    child.index = index;
    child.is_int96 = parent.is_int96;
    MatchType(type, path, child, names);
    parent.children.push_back(std::move(child));
  }

  void MatchStruct(const arrow::DataType& type, const std::string& path, FileSource& source,
                   const Names* names) {
    std::set<int> taken;
    for (const auto& column : source.column->children()) {
      const int index = Find(type.fields(), column->field(), names);
      if (index < 0) {
        FileSource missing;
        missing.column = column.get();
        source.children.push_back(std::move(missing));
        continue;
      }
      taken.insert(index);
      MatchChild(*column, index, *type.field(index)->type(), path + "." + column->field().name, source,
                 Below(names, type.field(index)->name()));
    }
    const NestedField& parent = source.column->field();
    for (int i = 0; i < type.num_fields(); ++i) {
      if (taken.contains(i)) continue;
      const arrow::Field& field = *type.field(i);
      TakeNew(field, parent.id, parent.type->fields(), source.is_int96,
              {top_, path + "." + field.name(), {}});
    }
  }

  void MatchPrimitive(const arrow::DataType& type, FileSource& source) {
    const auto own = iceberg::ToArrowType(source.column->type());
    source.as_is = own.ok() && (*own)->Equals(type);
    if (source.as_is || !source.column->binding().may_widen) return;
    const auto stored = iceberg::FromArrowType(type);
    if (!stored.ok() ||
        !iceberg::CanPromote(source.column->type(), **stored, iceberg::kPromotionsOfEveryTable))
      return;
    result_.needs.widened.push_back({source.column->field().id, *stored});
  }

  void TakeUnknown(int index) {
    const arrow::Field& field = *file_.field(index);
    if (const auto mapped = mapped_into_.find(index); mapped != mapped_into_.end()) {
      if (static_cast<int>(mapped->second.size()) < field.type()->num_fields())
        result_.unknown.push_back({index, field.name(), "only some of its fields are mapped"});
      return;
    }
    TakeNew(field, 0, bound_.schema->fields(), int96_.contains(field.name()), {index, field.name(), {}});
  }

  /// A field that the table does not have: a new column, or an unknown part.
  void TakeNew(const arrow::Field& field, int32_t parent_id, const std::vector<NestedField>& siblings,
               bool is_int96, UnknownPart part) {
    part.why_not = WhyNotAddable(bound_, parent_id, siblings, field.name());
    if (part.why_not.empty()) {
      const Result<TypePtr> type = NewColumnType(*field.type(), is_int96);
      if (type.ok()) {
        result_.needs.added.push_back({parent_id, field.name(), *type});
        return;
      }
      part.why_not = type.error().message();
    }
    if (field.type()->id() != arrow::Type::NA) result_.unknown.push_back(std::move(part));
  }

  const arrow::Schema& file_;
  const BoundSchema& bound_;
  const bool by_id_;
  const Names* mapped_;  ///< the table's names for files without ids; null: there are none
  const std::set<std::string> int96_;
  std::map<int, std::set<int>> mapped_into_;  ///< fields of structs that columns are mapped into
  int top_ = 0;
  FileColumns result_;
};

}  // namespace

std::set<std::string> Int96ColumnsOf(const arrow::Schema& file) {
  std::set<std::string> names;
  if (file.metadata() == nullptr) return names;
  const auto text = file.metadata()->Get(std::string(kInt96Columns));
  if (!text.ok()) return names;
  for (size_t begin = 0; begin < text->size();) {
    const size_t end = text->find('\n', begin);
    names.insert(text->substr(begin, end - begin));
    begin = end == std::string::npos ? text->size() : end + 1;
  }
  return names;
}

Result<TypePtr> NewColumnType(const arrow::DataType& type, bool is_int96) {
  FIRN_ASSIGN(const TypePtr stored, iceberg::FromArrowType(type));
  if (HoldsNothing(*stored)) return Error(ErrorKind::kUnsupported, "the file says that it holds only nulls");
  return Optional(*stored, is_int96);
}

Result<FileColumns> MatchColumns(const arrow::Schema& file, const BoundSchema& bound, ParquetMatch match,
                                 Column& root) {
  if (bound.name_mapping.empty()) return Matcher(file, bound, match, nullptr).Match(root);
  FIRN_ASSIGN(const iceberg::NameMapping mapping, iceberg::ParseNameMapping(bound.name_mapping));
  return Matcher(file, bound, match, &mapping).Match(root);
}

}  // namespace firn::decode
