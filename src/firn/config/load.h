#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "firn/config/node.h"
#include "firn/config/problems.h"

namespace firn::config {

/// Where `${...}` takes its values from.
struct Environment {
  /// `${NAME}`: empty when the variable is not set.
  std::function<std::optional<std::string>(const std::string& name)> variable;
  /// `${file:PATH}`: the file's text; PATH is already resolved against the folder of the file that names it.
  std::function<Result<std::string>(const std::string& path)> file;
};
Environment SystemEnvironment();

/// YAML to a tree of nodes. Stricter than YAML, because each of these has surprised someone: a key that is
/// written twice, a second document, merge keys (`<<`), numbers that begin with 0, tabs in the indentation
/// and tags (`!!int`) are problems. In every value (never in keys) `${NAME}` and `${NAME:-default}` (taken
/// when the variable is not set or empty) are an environment variable, `${file:PATH}` a file's text without
/// its last line break, `$$` a dollar sign; what they give is not looked at again. Empty when something was
/// wrong; `problems` then has at least one entry.
std::optional<Node> LoadText(std::string_view text, const std::string& file_name,
                             const Environment& environment, Problems& problems);

/// Reads and merges files. Keys of the top level may be spread over files, as may the keys of the maps
/// directly below
/// (`pipelines.a` here, `pipelines.b` there); the same key in two files is a problem.
std::optional<Node> LoadFiles(std::span<const std::string> paths, const Environment& environment,
                              Problems& problems);

}  // namespace firn::config
