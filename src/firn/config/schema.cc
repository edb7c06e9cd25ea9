#include "firn/config/schema.h"

#include <algorithm>

#include "firn/base/text_distance.h"

namespace firn::config {

void Checker::Fail(std::string_view key, std::string message) {
  failed_ = true;
  const std::optional<Node> child = node_.Find(key);
  problems_.Add(child ? *child : node_, std::move(message));
}

namespace internal {

namespace {

std::string UnknownKey(const std::string& key, const std::vector<std::string>& known) {
  std::string message = "unknown key";
  if (const auto nearest = NearestName(key, known)) message += "; did you mean \"" + *nearest + "\"?";
  return message + " (allowed: " + JoinWords(known) + ")";
}

void CheckOneOf(Checker& check, const std::vector<std::string>& keys, bool required) {
  std::vector<std::string> written;
  std::ranges::copy_if(keys, std::back_inserter(written),
                       [&](const std::string& key) { return check.has(key); });
  if (written.size() > 1) check.Fail(written[1], "only one of " + JoinWords(keys) + " may be written");
  if (written.empty() && required) check.Fail({}, "one of these keys is missing: " + JoinWords(keys));
}

bool ReadField(const SchemaKeys::Field& field, const Node& node, Problems& problems, void* out) {
  const std::optional<Node> child = node.Find(field.key);
  if (child) return field.reader->Read(*child, problems, out);
  if (field.line.required) problems.Add(node, "the key \"" + field.key + "\" is missing: " + field.line.doc);
  return !field.line.required;
}

}  // namespace

void SchemaKeys::Add(std::string key, std::string doc, bool required, std::string default_text,
                     std::shared_ptr<const DescribedType> type, std::shared_ptr<const FieldReader> reader) {
  FieldDoc line{{}, type->name(), required, std::move(default_text), type->allowed(), std::move(doc)};
  fields_.push_back({std::move(key), std::move(line), std::move(type), std::move(reader)});
}

void SchemaKeys::AddRetired(std::string key, std::string instead) {
  retired_.emplace_back(std::move(key), std::move(instead));
}

void SchemaKeys::AddOneOf(std::vector<std::string> keys, bool required) {
  AddCheck(
      [keys = std::move(keys), required](const void*, Checker& check) { CheckOneOf(check, keys, required); });
}

bool SchemaKeys::Read(const Node& node, Problems& problems, void* out) const {
  if (!node.is_map() && !node.is_null()) {
    problems.Add(node, WrongKind(node, "map"));
    return false;
  }
  bool good = CheckKeys(node, problems);
  for (const Field& field : fields_) good &= ReadField(field, node, problems, out);
  for (const Node::Entry& entry : node.Entries()) good &= ReadPrefixed(entry, problems, out);
  if (!good) return false;
  Checker checker(node, problems);
  for (const Check& check : checks_) check(out, checker);
  return !checker.failed();
}

void SchemaKeys::Describe(const std::string& path, std::vector<FieldDoc>* out) const {
  const std::string below = path.empty() ? "" : path + ".";
  for (const Field& field : fields_) {
    out->push_back(field.line);
    out->back().path = below + field.key;
    field.type->Describe(below + field.key, out);
  }
  for (const Prefix& entry : prefixed_)
    out->push_back({below + entry.prefix + "<name>", "text", false, {}, {}, entry.doc});
}

// Unknown keys become problems with the nearest known key.
bool SchemaKeys::CheckKeys(const Node& node, Problems& problems) const {
  std::vector<std::string> known;
  for (const Field& field : fields_) known.push_back(field.key);
  bool good = true;
  for (const auto& [key, place, value] : node.Entries()) {
    if (std::ranges::find(known, key) != known.end() || FindPrefix(key) != nullptr) continue;
    const auto old = std::ranges::find(retired_, key, &std::pair<std::string, std::string>::first);
    problems.Add(place, value.path(),
                 old == retired_.end() ? UnknownKey(key, known) : "this key is gone: " + old->second);
    good = false;
  }
  return good;
}

const SchemaKeys::Prefix* SchemaKeys::FindPrefix(std::string_view key) const {
  const auto found = std::ranges::find_if(prefixed_, [&](const Prefix& entry) {
    return key.size() > entry.prefix.size() && key.starts_with(entry.prefix);
  });
  return found == prefixed_.end() ? nullptr : &*found;
}

bool SchemaKeys::ReadPrefixed(const Node::Entry& entry, Problems& problems, void* out) const {
  const Prefix* prefix = FindPrefix(entry.key);
  if (prefix == nullptr) return true;
  std::string text;
  if (!Text({.allow_empty = true})->Read(entry.value, problems, &text)) return false;
  prefix->map(out)[entry.key.substr(prefix->prefix.size())] = std::move(text);
  return true;
}

}  // namespace internal

}  // namespace firn::config
