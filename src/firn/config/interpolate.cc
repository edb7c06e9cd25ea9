#include "firn/config/interpolate.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "firn/base/bytes.h"

namespace firn::config {

namespace {

bool IsName(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::ranges::all_of(name, fits);
}

Result<std::string> FileText(std::string_view path, const std::string& folder,
                             const Environment& environment) {
  const std::filesystem::path given(path);
  const std::filesystem::path full = given.is_absolute() ? given : std::filesystem::path(folder) / given;
  FIRN_ASSIGN(std::string text, environment.file(full.lexically_normal().string()));
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

Result<std::string> VariableText(std::string_view inside, const Environment& environment) {
  const size_t mark = inside.find(":-");
  const std::string name(inside.substr(0, mark));
  if (!IsName(name)) {
    return Error(ErrorKind::kInvalidArgument,
                 "\"${" + Excerpt(inside) +
                     "}\" is not ${NAME}, ${NAME:-default} or ${file:PATH}; a plain dollar sign is $$");
  }
  const std::optional<std::string> value = environment.variable(name);
  if (mark != std::string_view::npos) {
    return value && !value->empty() ? *value : std::string(inside.substr(mark + 2));
  }
  if (value) return *value;
  return Error(ErrorKind::kInvalidArgument, "the environment variable " + name + " is not set")
      .WithRemedy("Set it, or give a default: ${" + name + ":-default}.");
}

}  // namespace

Result<std::string> Interpolate(std::string_view text, const std::string& folder,
                                const Environment& environment) {
  std::string out;
  while (!text.empty()) {
    const size_t dollar = text.find('$');
    out += text.substr(0, dollar);
    if (dollar == std::string_view::npos) break;
    text.remove_prefix(dollar + 1);
    if (text.starts_with('$')) {
      out += '$';
      text.remove_prefix(1);
    } else if (!text.starts_with('{')) {
      out += '$';
    } else {
      const size_t end = text.find('}');
      if (end == std::string_view::npos) {
        return Error(ErrorKind::kInvalidArgument,
                     "\"${\" without a closing \"}\"; a plain dollar sign is $$");
      }
      const std::string_view inside = text.substr(1, end - 1);
      constexpr std::string_view kFile = "file:";
      FIRN_ASSIGN(const std::string value, inside.starts_with(kFile)
                                               ? FileText(inside.substr(kFile.size()), folder, environment)
                                               : VariableText(inside, environment));
      out += value;
      text.remove_prefix(end + 1);
    }
  }
  return out;
}

Environment SystemEnvironment() {
  Environment environment;
  environment.variable = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  environment.file = [](const std::string& path) -> Result<std::string> {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (file) text << file.rdbuf();
    if (!file || std::filesystem::is_directory(path)) {
      return Error(ErrorKind::kInvalidArgument, "cannot read the file " + path);
    }
    return text.str();
  };
  return environment;
}

}  // namespace firn::config
