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

}  // namespace

bool CheckKeys(const Node& node, const std::vector<std::string>& known,
               const std::vector<std::string>& prefixes,
               const std::vector<std::pair<std::string, std::string>>& retired, Problems& problems) {
  bool good = true;
  for (const auto& [key, place, value] : node.Entries()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const auto begins_key = [&name = key](const std::string& prefix) {
      return name.size() > prefix.size() && name.starts_with(prefix);
    };
    if (std::ranges::any_of(prefixes, begins_key)) continue;
    const auto old = std::ranges::find(retired, key, &std::pair<std::string, std::string>::first);
    problems.Add(place, value.path(),
                 old == retired.end() ? UnknownKey(key, known) : "this key is gone: " + old->second);
    good = false;
  }
  return good;
}

void CheckOneOf(Checker& check, const std::vector<std::string>& keys, bool required) {
  std::vector<std::string> written;
  std::ranges::copy_if(keys, std::back_inserter(written),
                       [&](const std::string& key) { return check.has(key); });
  if (written.size() > 1) check.Fail(written[1], "only one of " + JoinWords(keys) + " may be written");
  if (written.empty() && required) check.Fail({}, "one of these keys is missing: " + JoinWords(keys));
}

}  // namespace internal

}  // namespace firn::config
