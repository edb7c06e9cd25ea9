#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "firn/base/text_distance.h"

namespace firn::pipeline {

/// Names of plug-ins (SourcePlugin, DecoderPlugin, CatalogPlugin), in the registry's order.
template <typename Plugin>
std::vector<std::string> NamesOf(const std::vector<Plugin>& plugins) {
  std::vector<std::string> names;
  for (const Plugin& plugin : plugins) names.push_back(plugin.name);
  return names;
}

/// Null: there is none of this name.
template <typename Plugin>
const Plugin* FindPlugin(const std::vector<Plugin>& plugins, std::string_view name) {
  for (const Plugin& plugin : plugins) {
    if (plugin.name == name) return &plugin;
  }
  return nullptr;
}

/// `; did you mean "kafka"?`, or nothing.
inline std::string Suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::optional<std::string> near = NearestName(word, known);
  return near ? fmt::format("; did you mean \"{}\"?", *near) : std::string();
}

}  // namespace firn::pipeline
