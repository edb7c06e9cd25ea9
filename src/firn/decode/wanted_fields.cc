#include "firn/decode/wanted_fields.h"

#include <algorithm>

namespace firn::decode {

namespace {

void Add(WantedField* at, std::string_view path, size_t field) {
  const size_t dot = path.find('.');
  const std::string_view name = path.substr(0, dot);
  auto below = std::ranges::find(at->below, name, &WantedField::name);
  if (below == at->below.end()) below = at->below.insert(below, {std::string(name), std::nullopt, {}});
  if (dot == std::string_view::npos) {
    below->field = field;
  } else {
    Add(&*below, path.substr(dot + 1), field);
  }
}

}  // namespace

const WantedField* WantedField::Find(std::string_view key) const {
  const auto found = std::ranges::find(below, key, &WantedField::name);
  return found == below.end() ? nullptr : &*found;
}

WantedField TreeOf(const std::vector<std::string>& paths) {
  WantedField root;
  for (size_t i = 0; i < paths.size(); ++i) Add(&root, paths[i], i);
  return root;
}

}  // namespace firn::decode
