#include "firn/avro/schema.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace firn::avro {

namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 64;
constexpr int64_t kMaxFixedBytes = 1 << 30;

constexpr std::array<std::pair<std::string_view, Kind>, 8> kPrimitives{{{"null", Kind::kNull},
                                                                        {"boolean", Kind::kBoolean},
                                                                        {"int", Kind::kInt},
                                                                        {"long", Kind::kLong},
                                                                        {"float", Kind::kFloat},
                                                                        {"double", Kind::kDouble},
                                                                        {"bytes", Kind::kBytes},
                                                                        {"string", Kind::kString}}};

std::optional<Kind> FindPrimitive(std::string_view name) {
  for (const auto& [text, kind] : kPrimitives) {
    if (text == name) return kind;
  }
  return std::nullopt;
}

Error Bad(std::string_view place, std::string_view what) {
  return {ErrorKind::kCorrupt,
          fmt::format("Avro schema, at {}: {}", place.empty() ? "the top" : place, what)};
}

const Json* Find(const Json& object, const char* key) {
  auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

std::optional<int32_t> IntAttribute(const Json& object, const char* key) {
  const Json* value = Find(object, key);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  if (value->is_number_unsigned() && value->get<uint64_t>() > INT32_MAX) return std::nullopt;
  auto number = value->get<int64_t>();
  if (number < INT32_MIN || number > INT32_MAX) return std::nullopt;
  return static_cast<int32_t>(number);
}

std::string TextAttribute(const Json& object, const char* key) {
  const Json* value = Find(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::vector<std::string> TextListAttribute(const Json& object, const char* key) {
  std::vector<std::string> texts;
  const Json* list = Find(object, key);
  if (list == nullptr || !list->is_array()) return texts;
  for (const auto& item : *list) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

bool IsUnnamed(Kind kind) { return kind != Kind::kRecord && kind != Kind::kEnum && kind != Kind::kFixed; }

}  // namespace

std::string_view ToString(Kind kind) {
  switch (kind) {
    case Kind::kRecord:
      return "record";
    case Kind::kEnum:
      return "enum";
    case Kind::kArray:
      return "array";
    case Kind::kMap:
      return "map";
    case Kind::kUnion:
      return "union";
    case Kind::kFixed:
      return "fixed";
    default:
      return kPrimitives[static_cast<size_t>(kind)].first;
  }
}

const Field* Node::FindField(std::string_view field_name) const {
  auto it = std::find_if(fields.begin(), fields.end(),
                         [&](const Field& field) { return field.name == field_name; });
  return it == fields.end() ? nullptr : &*it;
}

const Node* Node::NullableInner() const {
  if (kind != Kind::kUnion || branches.size() != 2) return nullptr;
  if (branches[0]->kind == Kind::kNull) return branches[1];
  return branches[1]->kind == Kind::kNull ? branches[0] : nullptr;
}

/// Recursive descent over the JSON; depth is bounded, so the stack is.
class SchemaParser {
 public:
  explicit SchemaParser(Schema& schema) : schema_(schema) {}

  /// Its named types become known; the last one read is the schema itself.
  Status Read(const Json& json) {
    FIRN_ASSIGN(schema_.root_, ParseType(json, "", "", 0));
    return Ok();
  }

  void Finish() { MeasureNodes(); }

 private:
  using NodeResult = Result<const Node*>;

  NodeResult ParseType(const Json& json, const std::string& space, const std::string& place, int depth) {
    if (depth > kMaxDepth) return Bad(place, "nested too deeply");
    if (json.is_string()) return ParseName(json.get<std::string>(), space, place);
    if (json.is_array()) return ParseUnion(json, space, place, depth);
    if (json.is_object()) return ParseObject(json, space, place, depth);
    return Bad(place, "a type is a name, an object or a list");
  }

  NodeResult ParseName(const std::string& name, const std::string& space, const std::string& place) {
    if (auto primitive = FindPrimitive(name)) return Primitive(*primitive);
    auto it = named_.end();
    if (name.find('.') == std::string::npos && !space.empty()) it = named_.find(space + "." + name);
    if (it == named_.end()) it = named_.find(name);
    if (it == named_.end()) return Bad(place, fmt::format("unknown type '{}'", name));
    return it->second;
  }

  const Node* Primitive(Kind kind) {
    auto& slot = primitives_[static_cast<size_t>(kind)];
    if (slot == nullptr) slot = &NewNode(kind);
    return slot;
  }

  Node& NewNode(Kind kind) {
    auto& node = schema_.nodes_.emplace_back();
    node.kind = kind;
    return node;
  }

  NodeResult ParseUnion(const Json& json, const std::string& space, const std::string& place, int depth) {
    if (json.empty()) return Bad(place, "an empty union");
    auto& node = NewNode(Kind::kUnion);
    std::set<std::string> seen;
    for (size_t i = 0; i < json.size(); ++i) {
      FIRN_ASSIGN(const Node* branch, ParseType(json[i], space, fmt::format("{}[{}]", place, i), depth + 1));
      if (branch->kind == Kind::kUnion) return Bad(place, "a union directly inside a union");
      std::string key = IsUnnamed(branch->kind) ? std::string(ToString(branch->kind)) : branch->name;
      if (!seen.insert(key).second) return Bad(place, fmt::format("'{}' twice in one union", key));
      node.branches.push_back(branch);
    }
    return &node;
  }

  NodeResult ParseObject(const Json& json, const std::string& space, const std::string& place, int depth) {
    const Json* type = Find(json, "type");
    if (type == nullptr) return Bad(place, "no \"type\"");
    if (!type->is_string()) return ParseType(*type, space, place, depth + 1);
    auto name = type->get<std::string>();
    if (name == "record" || name == "error") return ParseRecord(json, space, place, depth);
    if (name == "enum") return ParseEnum(json, space, place);
    if (name == "fixed") return ParseFixed(json, space, place);
    if (name == "array") return ParseArray(json, space, place, depth);
    if (name == "map") return ParseMap(json, space, place, depth);
    if (auto primitive = FindPrimitive(name)) return ParseAnnotated(*primitive, json);
    return ParseName(name, space, place);
  }

  const Node* ParseAnnotated(Kind kind, const Json& json) {
    if (!json.contains("logicalType") && !json.contains("adjust-to-utc")) return Primitive(kind);
    auto& node = NewNode(kind);
    Annotate(node, json);
    return &node;
  }

  static void Annotate(Node& node, const Json& json) {
    node.logical_type = TextAttribute(json, "logicalType");
    node.precision = IntAttribute(json, "precision").value_or(0);
    node.scale = IntAttribute(json, "scale").value_or(0);
    const Json* adjust = Find(json, "adjust-to-utc");
    if (adjust != nullptr && adjust->is_boolean()) node.adjust_to_utc = adjust->get<bool>();
  }

  /// Full name by the rules for "name" and "namespace"; `inner` becomes the namespace of what is inside.
  static std::string FullName(const Json& json, const std::string& space, std::string& inner) {
    std::string name = TextAttribute(json, "name");
    if (auto dot = name.rfind('.'); dot != std::string::npos) {
      inner = name.substr(0, dot);
      return name;
    }
    inner = json.contains("namespace") ? TextAttribute(json, "namespace") : space;
    return inner.empty() ? name : inner + "." + name;
  }

  Result<Node*> NewNamed(Kind kind, const Json& json, const std::string& space, const std::string& place,
                         std::string& inner) {
    std::string name = FullName(json, space, inner);
    if (name.empty() || name.ends_with('.'))
      return Bad(place, fmt::format("a {} without a name", ToString(kind)));
    if (FindPrimitive(name))
      return Bad(place, fmt::format("'{}' is not a name for a {}", name, ToString(kind)));
    auto& node = NewNode(kind);
    node.name = name;
    Annotate(node, json);
    if (!named_.emplace(name, &node).second) return Bad(place, fmt::format("'{}' is defined twice", name));
    return &node;
  }

  NodeResult ParseRecord(const Json& json, const std::string& space, const std::string& place, int depth) {
    std::string inner;
    FIRN_ASSIGN(Node * node, NewNamed(Kind::kRecord, json, space, place, inner));
    const Json* fields = Find(json, "fields");
    if (fields == nullptr || !fields->is_array()) return Bad(place, "a record without a list of fields");
    std::set<std::string> names;
    for (const auto& item : *fields) {
      FIRN_ASSIGN(auto field, ParseField(item, inner, place, depth));
      if (!names.insert(field.name).second) return Bad(place, fmt::format("field '{}' twice", field.name));
      node->fields.push_back(std::move(field));
    }
    return node;
  }

  Result<Field> ParseField(const Json& json, const std::string& space, const std::string& place, int depth) {
    if (!json.is_object()) return Bad(place, "a field is an object");
    Field field;
    field.name = TextAttribute(json, "name");
    if (field.name.empty()) return Bad(place, "a field without a name");
    const Json* type = Find(json, "type");
    if (type == nullptr) return Bad(place, fmt::format("field '{}' has no type", field.name));
    std::string inside = place.empty() ? field.name : place + "." + field.name;
    FIRN_ASSIGN(field.type, ParseType(*type, space, inside, depth + 1));
    field.field_id = IntAttribute(json, "field-id");
    field.doc = TextAttribute(json, "doc");
    field.aliases = TextListAttribute(json, "aliases");
    if (const Json* value = Find(json, "default")) field.default_value = std::make_shared<const Json>(*value);
    return field;
  }

  NodeResult ParseEnum(const Json& json, const std::string& space, const std::string& place) {
    std::string inner;
    FIRN_ASSIGN(Node * node, NewNamed(Kind::kEnum, json, space, place, inner));
    const Json* symbols = Find(json, "symbols");
    if (symbols == nullptr || !symbols->is_array()) return Bad(place, "an enum without a list of symbols");
    for (const auto& symbol : *symbols) {
      if (!symbol.is_string()) return Bad(place, "a symbol is text");
      node->symbols.push_back(symbol.get<std::string>());
    }
    return node;
  }

  NodeResult ParseFixed(const Json& json, const std::string& space, const std::string& place) {
    std::string inner;
    FIRN_ASSIGN(Node * node, NewNamed(Kind::kFixed, json, space, place, inner));
    auto size = IntAttribute(json, "size");
    if (!size || *size < 0 || *size > kMaxFixedBytes)
      return Bad(place, "a fixed without a size, or with an absurd one");
    node->size_bytes = *size;
    return node;
  }

  NodeResult ParseArray(const Json& json, const std::string& space, const std::string& place, int depth) {
    const Json* items = Find(json, "items");
    if (items == nullptr) return Bad(place, "an array without items");
    auto& node = NewNode(Kind::kArray);
    Annotate(node, json);
    node.element_id = IntAttribute(json, "element-id");
    FIRN_ASSIGN(node.items, ParseType(*items, space, place + "[]", depth + 1));
    return &node;
  }

  NodeResult ParseMap(const Json& json, const std::string& space, const std::string& place, int depth) {
    const Json* values = Find(json, "values");
    if (values == nullptr) return Bad(place, "a map without values");
    auto& node = NewNode(Kind::kMap);
    Annotate(node, json);
    node.key_id = IntAttribute(json, "key-id");
    node.value_id = IntAttribute(json, "value-id");
    FIRN_ASSIGN(node.items, ParseType(*values, space, place + "{}", depth + 1));
    return &node;
  }

  // --- least encoded size

  void MeasureNodes() {
    for (auto& node : schema_.nodes_) {
      std::set<const Node*> open;
      node.min_bytes = Measure(node, open);
    }
  }

  /// A record that holds itself without a union or list between has no finite value; it counts as 1 here and
  /// is stopped by depth.
  int64_t Measure(const Node& node, std::set<const Node*>& open) {
    constexpr int64_t kEnough = int64_t{1} << 40;
    switch (node.kind) {
      case Kind::kNull:
        return 0;
      case Kind::kFloat:
        return 4;
      case Kind::kDouble:
        return 8;
      case Kind::kFixed:
        return node.size_bytes;
      case Kind::kRecord: {
        if (auto known = measured_.find(&node); known != measured_.end()) return known->second;
        if (!open.insert(&node).second) return 1;
        int64_t sum = 0;
        for (const auto& field : node.fields) sum = std::min(kEnough, sum + Measure(*field.type, open));
        open.erase(&node);
        measured_[&node] = sum;
        return sum;
      }
      default:
        return 1;  // booleans, varints, lengths, block ends and branch numbers
    }
  }

  Schema& schema_;
  std::map<std::string, Node*> named_;
  std::map<const Node*, int64_t> measured_;
  std::array<const Node*, 8> primitives_{};
};

namespace {

/// Copying a parsed value is recursive in the JSON library, so its depth is looked at before.
bool IsTooDeep(std::string_view json) {
  constexpr int kMaxJsonDepth = 4 * kMaxDepth;
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (in_text && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_text = !in_text;
    } else if (!in_text && (c == '{' || c == '[')) {
      if (++depth > kMaxJsonDepth) return true;
    } else if (!in_text && (c == '}' || c == ']')) {
      --depth;
    }
  }
  return false;
}

}  // namespace

namespace {

Result<Json> ParseJson(std::string_view json) {
  if (IsTooDeep(json)) return Bad("", "nested too deeply");
  Json parsed = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) {
    // A bare name is allowed where JSON text would need quotes ("string" of the file header's oldest
    // writers).
    if (!FindPrimitive(json)) return Bad("", "not JSON");
    parsed = Json(std::string(json));
  }
  return parsed;
}

}  // namespace

Result<std::shared_ptr<const Schema>> Schema::Parse(std::string_view json,
                                                    const std::vector<std::string>& referenced) {
  auto schema = std::make_shared<Schema>();
  SchemaParser parser(*schema);
  for (const std::string& text : referenced) {
    FIRN_ASSIGN(const Json parsed, ParseJson(text));
    FIRN_TRY(parser.Read(parsed));
  }
  FIRN_ASSIGN(const Json parsed, ParseJson(json));
  FIRN_TRY(parser.Read(parsed));
  parser.Finish();
  return std::shared_ptr<const Schema>(std::move(schema));
}

namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Next code point of UTF-8 text; a broken byte stands for itself.
uint32_t NextCodePoint(std::string_view text, size_t& at) {
  auto lead = static_cast<unsigned char>(text[at++]);
  int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  if (more == 0 || at + static_cast<size_t>(more) > text.size()) return lead;
  uint32_t point = lead & (0x3FU >> more);
  for (int i = 0; i < more; ++i) point = (point << 6) | (static_cast<unsigned char>(text[at++]) & 0x3FU);
  return point;
}

void AppendEscaped(std::string& out, uint32_t point) {
  if (point >= 0x10000) {
    point -= 0x10000;
    out += fmt::format("_x{:X}_x{:X}", 0xD800 + (point >> 10), 0xDC00 + (point & 0x3FF));
  } else {
    out += fmt::format("_x{:X}", point);
  }
}

}  // namespace

std::shared_ptr<const Schema> Schema::RecordOf(std::string field, std::shared_ptr<const Schema> inner) {
  auto schema = std::make_shared<Schema>();
  Node& record = schema->nodes_.emplace_back();
  record.kind = Kind::kRecord;
  record.name = field;
  record.min_bytes = inner->root().min_bytes;
  record.fields.push_back({.name = std::move(field), .type = &inner->root()});
  schema->root_ = &record;
  schema->inner_ = std::move(inner);
  return schema;
}

bool IsValidName(std::string_view name) {
  if (name.empty() || !IsLetter(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return IsLetter(c) || IsDigit(c); });
}

std::string LegalName(std::string_view name) {
  std::string out;
  for (size_t at = 0; at < name.size();) {
    char c = name[at];
    if (IsLetter(c) || (IsDigit(c) && !out.empty())) {
      out += c;
      ++at;
    } else if (IsDigit(c)) {
      out += '_';
      out += c;
      ++at;
    } else {
      AppendEscaped(out, NextCodePoint(name, at));
    }
  }
  return out.empty() ? "_" : out;
}

}  // namespace firn::avro
