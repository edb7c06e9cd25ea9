#include "firn/decode/avro/decode_plan.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "firn/decode/avro/avro_types.h"
#include "firn/decode/reasons.h"

namespace firn::decode {

using avro::Kind;
using avro::Node;
using iceberg::Type;
using iceberg::TypeId;

namespace {

bool IsZoned(TypeId id) { return id == TypeId::kTimestampTz || id == TypeId::kTimestampTzNs; }
bool IsLocal(TypeId id) { return id == TypeId::kTimestamp || id == TypeId::kTimestampNs; }

/// Text is declared to stand for other bytes than its own.
bool IsEncoded(const Column& column) { return column.binding().bytes_encoding != BytesEncoding::kDefault; }

std::string Join(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

class PlanCompiler {
 public:
  explicit PlanCompiler(BoundTarget& target) : target_(target), bound_(target.bound()) {}

  DecodePlan Compile(const Node& writer) {
    Column& root = target_.root();
    CompileFields(writer, root, target_.record(), "");
    Emit(OpCode::kEndStruct, writer, &root, "");
    return std::move(plan_);
  }

 private:
  // --- records

  void CompileFields(const Node& writer, Column& owner, const RecordTarget& record, const std::string& path) {
    std::set<std::string, std::less<>> claimed;
    for (const avro::Field& field : writer.fields) {
      if (record.fields.contains(field.name)) claimed.insert(field.name);
    }
    for (const avro::Field& field : writer.fields) {
      const std::string* name = NameIn(record, field, claimed);
      const std::string inside = Join(path, field.name);
      if (name == nullptr) {
        CompileUnknown(field.name, field.doc, *field.type, owner, record.parent_id, inside);
        continue;
      }
      const RecordTarget::Field& to = record.fields.find(*name)->second;
      if (to.column != nullptr) {
        CompileCell(*field.type, *to.column, &owner, inside);
      } else {
        CompileMapped(*field.type, owner, *to.record, inside);
      }
    }
  }

  /// The name under which the field has a place: its own, else an alias that no other field has taken.
  static const std::string* NameIn(const RecordTarget& record, const avro::Field& field,
                                   std::set<std::string, std::less<>>& claimed) {
    if (record.fields.contains(field.name)) return &field.name;
    for (const std::string& alias : field.aliases) {
      if (record.fields.contains(alias) && claimed.insert(alias).second) return &alias;
    }
    return nullptr;
  }

  /// A record on the way to mapped columns.
  void CompileMapped(const Node& writer, Column& owner, const RecordTarget& record, const std::string& path) {
    if (writer.kind == Kind::kRecord) {
      CompileFields(writer, owner, record, path);
    } else if (writer.kind == Kind::kUnion) {
      CompileBranches(OpCode::kBranch, writer, nullptr, path,
                      [&](size_t i) { CompileMapped(*writer.branches[i], owner, record, path); });
    } else if (writer.kind == Kind::kNull) {
      Emit(OpCode::kSkip, writer, nullptr, path);
    } else {
      EmitFailure(writer, reason::kTypeMismatch,
                  fmt::format("{}, where a record is expected, as columns are mapped to fields inside it",
                              DescribeAvro(writer)),
                  path);
    }
  }

  void CompileUnknown(const std::string& name, const std::string& doc, const Node& writer, Column& owner,
                      int32_t parent_id, const std::string& path) {
    auto type = ColumnTypeOf(writer);
    if (type.ok() && *type == nullptr) {
      Emit(OpCode::kSkip, writer, nullptr, path);
      return;
    }
    const std::string why = WhyNotAdded(name, type, owner, parent_id);
    if (why.empty()) {
      plan_.needs.added.push_back({parent_id, name, InferredType::Known(*type, doc)});
      Emit(OpCode::kSkip, writer, nullptr, path);
      return;
    }
    switch (bound_.unknown_fields) {
      case UnknownFields::kIgnore:
        Emit(OpCode::kIgnore, writer, nullptr, path);
        break;
      case UnknownFields::kRescue:
        Emit(OpCode::kRescue, writer, nullptr, path);
        break;
      case UnknownFields::kDeadLetter:
        EmitFailure(writer, reason::kUnknownField, fmt::format("unknown field: {}", why), path);
        break;
    }
  }

  std::string WhyNotAdded(const std::string& name, const Result<iceberg::TypePtr>& type, const Column& owner,
                          int32_t parent_id) const {
    if (bound_.evolution != Evolution::kNone && parent_id < 0)
      return "it lies in a record whose fields are mapped one by one";
    std::string why = WhyNotAddable(bound_, parent_id, owner.type().fields(), name);
    if (why.empty() && !type.ok()) why = type.error().ToString();
    return why;
  }

  /// The fields of a struct column, by name.
  static RecordTarget TargetOf(Column& column) {
    RecordTarget record;
    record.parent_id = column.field().id;
    for (const auto& child : column.children()) record.fields[child->field().name].column = child.get();
    return record;
  }

  // --- one value

  void CompileCell(const Node& writer, Column& column, Column* parent, const std::string& path) {
    const size_t first = plan_.ops.size();
    CompileValue(writer, column, path);
    // A failure has no cell that could be put in its place.
    if (plan_.ops[first].column != nullptr) plan_.ops[first].parent = parent;
  }

  void CompileValue(const Node& writer, Column& column, const std::string& path) {
    const TypeId id = column.type_id();
    switch (writer.kind) {
      case Kind::kNull:
        Emit(OpCode::kNull, writer, &column, path);
        return;
      case Kind::kUnion:
        CompileUnion(writer, column, path);
        return;
      case Kind::kRecord:
        if (id != TypeId::kStruct) break;
        Emit(OpCode::kBeginStruct, writer, &column, path);
        CompileFields(writer, column, TargetOf(column), path);
        Emit(OpCode::kEndStruct, writer, &column, path);
        return;
      case Kind::kArray:
        if (id != TypeId::kList) break;
        CompileItems(OpCode::kArray, writer, column, column.child(0), path + "[]");
        return;
      case Kind::kMap:
        if (id != TypeId::kMap) break;
        CompileItems(OpCode::kMap, writer, column, column.child(1), path + "{}");
        return;
      default:
        if (CompileLeaf(writer, column, path)) return;
        break;
    }
    EmitMismatch(writer, column, path);
  }

  void CompileItems(OpCode code, const Node& writer, Column& column, Column& items, const std::string& path) {
    const size_t at = Emit(code, writer, &column, path);
    plan_.ops[at].size = writer.items->min_bytes + (code == OpCode::kMap ? 1 : 0);
    CompileValue(*writer.items, items, path);
    Close(at);
  }

  void CompileUnion(const Node& writer, Column& column, const std::string& path) {
    if (const Node* inner = writer.NullableInner()) {
      const size_t at = Emit(OpCode::kNullable, writer, &column, path);
      plan_.ops[at].index = writer.branches[0]->kind == Kind::kNull ? 0 : 1;
      CompileValue(*inner, column, path);
      Close(at);
      return;
    }
    const std::vector<std::string> names = UnionFieldNames(writer);
    if (!IsGeneralUnion(writer) || !FillsStruct(names, column)) {
      CompileBranches(OpCode::kBranch, writer, &column, path,
                      [&](size_t i) { CompileValue(*writer.branches[i], column, path); });
      return;
    }
    CompileBranches(OpCode::kBranchStruct, writer, &column, path, [&](size_t i) {
      if (names[i].empty()) return;
      const std::string inside = Join(path, names[i]);
      for (const auto& child : column.children()) {
        if (child->field().name == names[i]) return CompileCell(*writer.branches[i], *child, &column, inside);
      }
      CompileUnknown(names[i], {}, *writer.branches[i], column, column.field().id, inside);
    });
  }

  static bool FillsStruct(const std::vector<std::string>& names, const Column& column) {
    if (column.type_id() != TypeId::kStruct) return false;
    return std::any_of(column.children().begin(), column.children().end(), [&](const auto& child) {
      return std::find(names.begin(), names.end(), child->field().name) != names.end();
    });
  }

  template <typename Each>
  void CompileBranches(OpCode code, const Node& writer, Column* column, const std::string& path,
                       Each&& each) {
    const size_t at = Emit(code, writer, column, path);
    std::vector<DecodePlan::Range> ranges;
    for (size_t i = 0; i < writer.branches.size(); ++i) {
      const auto begin = static_cast<uint32_t>(plan_.ops.size());
      each(i);
      ranges.emplace_back(begin, static_cast<uint32_t>(plan_.ops.size()));
    }
    plan_.ops[at].index = static_cast<uint32_t>(plan_.branches.size());
    plan_.branches.push_back(std::move(ranges));
    Close(at);
  }

  // --- leaves; false: the column does not take such values

  bool CompileLeaf(const Node& writer, Column& column, const std::string& path) {
    const TypeId id = column.type_id();
    switch (writer.kind) {
      case Kind::kBoolean:
        return id == TypeId::kBoolean && EmitLeaf(OpCode::kBoolean, writer, column, path);
      case Kind::kInt:
      case Kind::kLong:
        return CompileInteger(writer, column, path);
      case Kind::kFloat:
        if (id == TypeId::kFloat) return EmitLeaf(OpCode::kFloat, writer, column, path);
        return id == TypeId::kDouble && EmitLeaf(OpCode::kFloatToDouble, writer, column, path);
      case Kind::kDouble:
        if (id == TypeId::kDouble) return EmitLeaf(OpCode::kDouble, writer, column, path);
        if (id != TypeId::kFloat) return false;
        Widen(column, Type::Primitive(TypeId::kDouble));
        return EmitLeaf(OpCode::kDoubleToFloat, writer, column, path);
      case Kind::kEnum:
        return id == TypeId::kString && EmitLeaf(OpCode::kEnum, writer, column, path);
      case Kind::kString:
        return CompileString(writer, column, path);
      case Kind::kBytes:
        if (id == TypeId::kDecimal) return CompileDecimal(writer, column, -1, path);
        if (id == TypeId::kString) return EmitLeaf(OpCode::kString, writer, column, path);
        return id == TypeId::kBinary && EmitLeaf(OpCode::kBytes, writer, column, path);
      case Kind::kFixed:
        return CompileFixed(writer, column, path);
      default:
        return false;
    }
  }

  bool CompileString(const Node& writer, Column& column, const std::string& path) {
    switch (column.type_id()) {
      case TypeId::kString:
        return EmitLeaf(OpCode::kString, writer, column, path);
      case TypeId::kBinary:
        return EmitLeaf(IsEncoded(column) ? OpCode::kText : OpCode::kBytes, writer, column, path);
      case TypeId::kFixed:
        return IsEncoded(column) && EmitLeaf(OpCode::kText, writer, column, path);
      case TypeId::kDecimal:
      case TypeId::kUuid:
        return EmitLeaf(OpCode::kText, writer, column, path);
      default:
        return IsTimeLike(column.type_id()) && EmitLeaf(OpCode::kText, writer, column, path);
    }
  }

  bool CompileFixed(const Node& writer, Column& column, const std::string& path) {
    constexpr int64_t kUuidBytes = 16;
    switch (column.type_id()) {
      case TypeId::kDecimal:
        return CompileDecimal(writer, column, writer.size_bytes, path);
      case TypeId::kUuid:
        if (writer.size_bytes != kUuidBytes) return false;
        break;
      case TypeId::kFixed:
        if (writer.size_bytes != column.type().length()) return false;
        break;
      case TypeId::kBinary:
        EmitLeaf(OpCode::kRaw, writer, column, path);
        plan_.ops.back().size = writer.size_bytes;
        return true;
      default:
        return false;
    }
    EmitLeaf(OpCode::kFixed, writer, column, path);
    plan_.ops.back().size = writer.size_bytes;
    return true;
  }

  bool CompileDecimal(const Node& writer, Column& column, int64_t size_bytes, const std::string& path) {
    if (LogicalOf(writer) != AvroLogical::kDecimal) return false;
    if (writer.scale == column.type().scale() && writer.precision > column.type().precision())
      Widen(column, Type::Decimal(writer.precision, writer.scale));
    EmitLeaf(OpCode::kDecimal, writer, column, path);
    plan_.ops.back().size = size_bytes;
    plan_.ops.back().digits = static_cast<int8_t>(writer.scale);
    return true;
  }

  bool CompileInteger(const Node& writer, Column& column, const std::string& path) {
    switch (column.type_id()) {
      case TypeId::kInt:
        if (writer.kind == Kind::kInt) return EmitLeaf(OpCode::kInt, writer, column, path);
        Widen(column, Type::Primitive(TypeId::kLong));
        return EmitInteger(IntegerStore::kInt, 0, writer, column, path);
      case TypeId::kLong:
        EmitLeaf(OpCode::kLong, writer, column, path);
        plan_.ops.back().narrow = writer.kind == Kind::kInt;
        return true;
      case TypeId::kFloat:
        return EmitInteger(IntegerStore::kFloat, 0, writer, column, path);
      case TypeId::kDouble:
        return EmitInteger(IntegerStore::kDouble, 0, writer, column, path);
      case TypeId::kDecimal:
        return LogicalOf(writer) == AvroLogical::kNone &&
               EmitInteger(IntegerStore::kDecimal, 0, writer, column, path);
      default:
        return CompileTime(writer, column, path);
    }
  }

  bool CompileTime(const Node& writer, Column& column, const std::string& path) {
    const TypeId id = column.type_id();
    const AvroLogical logical = LogicalOf(writer);
    if (logical == AvroLogical::kNone) {
      const int unit = column.binding().epoch_digits;
      if (unit < 0 || !IsTimeLike(id)) return false;
      const IntegerStore store = id == TypeId::kDate   ? IntegerStore::kDate
                                 : id == TypeId::kTime ? IntegerStore::kTime
                                                       : IntegerStore::kTimestamp;
      return EmitInteger(store, unit, writer, column, path);
    }
    if (logical == AvroLogical::kDate)
      return id == TypeId::kDate && EmitLeaf(OpCode::kInt, writer, column, path);
    const bool fits = (logical == AvroLogical::kTime && id == TypeId::kTime) ||
                      (logical == AvroLogical::kTimestamp && IsZoned(id)) ||
                      (logical == AvroLogical::kLocalTimestamp && IsLocal(id));
    if (!fits) return false;
    return EmitInteger(id == TypeId::kTime ? IntegerStore::kTime : IntegerStore::kTimestamp, DigitsOf(writer),
                       writer, column, path);
  }

  bool EmitInteger(IntegerStore store, int digits, const Node& writer, Column& column,
                   const std::string& path) {
    EmitLeaf(OpCode::kInteger, writer, column, path);
    plan_.ops.back().integer = store;
    plan_.ops.back().digits = static_cast<int8_t>(digits);
    plan_.ops.back().narrow = writer.kind == Kind::kInt;
    return true;
  }

  /// Asks for the wider type where evolution may; else values are taken as far as they fit.
  void Widen(Column& column, iceberg::TypePtr type) {
    if (!column.binding().may_widen) return;
    plan_.needs.widened.push_back({column.field().id, std::move(type)});
  }

  // --- steps

  bool EmitLeaf(OpCode code, const Node& writer, Column& column, const std::string& path) {
    Emit(code, writer, &column, path);
    return true;
  }

  size_t Emit(OpCode code, const Node& writer, Column* column, const std::string& path) {
    Op& op = plan_.ops.emplace_back();
    op.code = code;
    op.column = column;
    op.node = &writer;
    if (plan_.paths.empty() || plan_.paths.back() != path) plan_.paths.push_back(path);
    op.path = static_cast<uint32_t>(plan_.paths.size() - 1);
    return plan_.ops.size() - 1;
  }

  void Close(size_t at) { plan_.ops[at].end = static_cast<uint32_t>(plan_.ops.size()); }

  void EmitFailure(const Node& writer, std::string_view reason, std::string message,
                   const std::string& path) {
    const size_t at = Emit(OpCode::kFail, writer, nullptr, path);
    plan_.ops[at].index = static_cast<uint32_t>(plan_.failures.size());
    plan_.failures.push_back({reason, std::move(message)});
  }

  void EmitMismatch(const Node& writer, const Column& column, const std::string& path) {
    std::string hint;
    const AvroLogical logical = LogicalOf(writer);
    if (logical == AvroLogical::kTimestamp && IsLocal(column.type_id()))
      hint = "; a column for moments is timestamptz";
    if (logical == AvroLogical::kLocalTimestamp && IsZoned(column.type_id()))
      hint = "; a column for local time is timestamp";
    if (logical == AvroLogical::kNone && IsTimeLike(column.type_id()) &&
        (writer.kind == Kind::kInt || writer.kind == Kind::kLong))
      hint = "; numbers need a declared unit";
    EmitFailure(writer, reason::kTypeMismatch,
                fmt::format("the record's schema has {}, which does not go into a column of type {}{}",
                            DescribeAvro(writer), column.type().ToString(), hint),
                path);
  }

  BoundTarget& target_;
  const BoundSchema& bound_;
  DecodePlan plan_;
};

}  // namespace

DecodePlan CompilePlan(const Node& writer, BoundTarget& target) {
  return PlanCompiler(target).Compile(writer);
}

}  // namespace firn::decode
