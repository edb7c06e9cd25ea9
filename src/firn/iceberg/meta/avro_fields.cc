#include "firn/iceberg/meta/avro_fields.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

namespace firn::iceberg {

namespace {

using avro::BinaryReader;
using avro::Kind;
using avro::Node;

Error Unfit(const Node& node, std::string_view wanted) {
  return {ErrorKind::kCorrupt,
          fmt::format("Avro type {} where {} was expected", ToString(node.kind), wanted)};
}

Result<int64_t> ReadPlainInteger(BinaryReader& reader, const Node& node) {
  if (node.kind == Kind::kLong) return reader.ReadLong();
  if (node.kind != Kind::kInt) return Unfit(node, "int or long");
  FIRN_ASSIGN(int64_t value, reader.ReadInt());
  return value;
}

Result<int32_t> Narrow(int64_t value) {
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    return Error(ErrorKind::kCorrupt, fmt::format("{} where an int was expected", value));
  }
  return static_cast<int32_t>(value);
}

template <typename T>
Status ReadList(BinaryReader& reader, const Node& node, std::vector<T>& out) {
  FIRN_ASSIGN(const Node* list, ReadOptional(reader, node));
  if (list == nullptr) return Ok();
  if (list->kind != Kind::kArray) return Unfit(*list, "an array");
  return reader.ReadItems(*list, [&]() -> Status {
    T item{};
    FIRN_TRY(ReadInto(reader, *list->items, item));
    out.push_back(std::move(item));
    return Ok();
  });
}

template <typename V>
Status ReadMap(BinaryReader& reader, const Node& node, std::map<int32_t, V>& out) {
  FIRN_ASSIGN(const Node* list, ReadOptional(reader, node));
  if (list == nullptr) return Ok();
  if (list->kind != Kind::kArray || list->items->kind != Kind::kRecord || list->items->fields.size() != 2) {
    return Unfit(*list, "an array of key and value");
  }
  const auto& fields = list->items->fields;
  return reader.ReadItems(*list, [&]() -> Status {
    int32_t key = 0;
    V value{};
    FIRN_TRY(ReadInto(reader, *fields[0].type, key));
    FIRN_TRY(ReadInto(reader, *fields[1].type, value));
    out.insert_or_assign(key, std::move(value));
    return Ok();
  });
}

}  // namespace

Result<const Node*> ReadOptional(BinaryReader& reader, const Node& node) {
  const Node* present = &node;
  if (node.kind == Kind::kUnion) {
    FIRN_ASSIGN(present, reader.ReadBranch(node));
  }
  return present->kind == Kind::kNull ? nullptr : present;
}

Result<int64_t> ReadInteger(BinaryReader& reader, const Node& node) {
  FIRN_ASSIGN(const Node* present, ReadOptional(reader, node));
  if (present == nullptr) return Error(ErrorKind::kCorrupt, "null where a number is required");
  return ReadPlainInteger(reader, *present);
}

Status ReadInto(BinaryReader& reader, const Node& node, bool& out) {
  FIRN_ASSIGN(const Node* present, ReadOptional(reader, node));
  if (present == nullptr) return Ok();
  if (present->kind != Kind::kBoolean) return Unfit(*present, "boolean");
  FIRN_ASSIGN(out, reader.ReadBoolean());
  return Ok();
}

Status ReadInto(BinaryReader& reader, const Node& node, int32_t& out) {
  FIRN_ASSIGN(const Node* present, ReadOptional(reader, node));
  if (present == nullptr) return Ok();
  FIRN_ASSIGN(auto value, ReadPlainInteger(reader, *present));
  FIRN_ASSIGN(out, Narrow(value));
  return Ok();
}

Status ReadInto(BinaryReader& reader, const Node& node, int64_t& out) {
  FIRN_ASSIGN(const Node* present, ReadOptional(reader, node));
  if (present == nullptr) return Ok();
  FIRN_ASSIGN(out, ReadPlainInteger(reader, *present));
  return Ok();
}

Status ReadInto(BinaryReader& reader, const Node& node, std::string& out) {
  FIRN_ASSIGN(const Node* present, ReadOptional(reader, node));
  if (present == nullptr) return Ok();
  const bool fixed = present->kind == Kind::kFixed;
  if (!fixed && present->kind != Kind::kString && present->kind != Kind::kBytes)
    return Unfit(*present, "string or bytes");
  FIRN_ASSIGN(auto bytes, fixed ? reader.ReadFixed(present->size_bytes) : reader.ReadBytes());
  out = bytes;
  return Ok();
}

Status ReadInto(BinaryReader& reader, const Node& node, std::vector<int32_t>& out) {
  return ReadList(reader, node, out);
}
Status ReadInto(BinaryReader& reader, const Node& node, std::vector<int64_t>& out) {
  return ReadList(reader, node, out);
}
Status ReadInto(BinaryReader& reader, const Node& node, std::map<int32_t, int64_t>& out) {
  return ReadMap(reader, node, out);
}
Status ReadInto(BinaryReader& reader, const Node& node, std::map<int32_t, std::string>& out) {
  return ReadMap(reader, node, out);
}

}  // namespace firn::iceberg
