#include "firn/http/aws/profiles.h"

#include <algorithm>

#include <fmt/format.h>

namespace firn::http::aws {

namespace {

using Map = std::map<std::string, Profile, std::less<>>;

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// A comment behind a value needs a blank before it: keys and tokens may hold # and ;.
std::string_view WithoutComment(std::string_view value) {
  for (const std::string_view mark : {" #", " ;", "\t#", "\t;"}) value = value.substr(0, value.find(mark));
  return Trimmed(value);
}

/// Name of the profile of a section; empty for sections of something else.
std::string ProfileOfSection(std::string_view section, bool is_config) {
  section = Trimmed(section);
  if (!is_config || section == "default") return std::string(section);
  constexpr std::string_view kPrefix = "profile";
  if (!section.starts_with(kPrefix) || section.size() == kPrefix.size()) return {};
  section.remove_prefix(kPrefix.size());
  if (section.front() != ' ' && section.front() != '\t') return {};
  section = Trimmed(section);
  if (section.size() >= 2 && section.starts_with('"') && section.ends_with('"'))
    section = section.substr(1, section.size() - 2);
  return std::string(section);
}

Result<std::string> ReadOptional(const AwsDeps& deps, const std::string& path) {
  Result<std::string> text = deps.read_file(path);
  if (!text.ok() && text.error().kind() == ErrorKind::kNotFound) return std::string();
  return text;
}

std::string PathOf(const AwsDeps& deps, const char* variable, const char* name) {
  const std::string home = deps.variable("HOME").value_or("");
  std::string path = deps.variable(variable).value_or("~/.aws/" + std::string(name));
  if (path.starts_with("~/")) path.replace(0, 1, home);
  return path;
}

}  // namespace

Status Profiles::ParseFile(std::string_view text, bool is_config, Map* profiles) {
  Profile* current = nullptr;
  int number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    const std::string_view content = Trimmed(line);
    const bool nested = line.starts_with(' ') || line.starts_with('\t');
    if (content.empty() || content.starts_with('#') || content.starts_with(';') || nested) continue;
    if (content.starts_with('[')) {
      const size_t end = content.find(']');
      if (end == std::string_view::npos)
        return Error(ErrorKind::kInvalidArgument, fmt::format("line {}: a section without ]", number));
      const std::string name = ProfileOfSection(content.substr(1, end - 1), is_config);
      current = name.empty() ? nullptr : &(*profiles)[name];
      continue;
    }
    const size_t equals = content.find('=');
    if (equals == std::string_view::npos)
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("line {}: neither a section nor key = value", number));
    if (current == nullptr) continue;
    std::string key(Trimmed(content.substr(0, equals)));
    std::ranges::transform(key, key.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    (*current)[key] = WithoutComment(content.substr(equals + 1));
  }
  return Ok();
}

Result<Profiles> Profiles::Load(const AwsDeps& deps) {
  Profiles profiles;
  for (const bool is_config : {true, false}) {
    const std::string path = is_config ? PathOf(deps, "AWS_CONFIG_FILE", "config")
                                       : PathOf(deps, "AWS_SHARED_CREDENTIALS_FILE", "credentials");
    FIRN_ASSIGN(const std::string text, ReadOptional(deps, path));
    FIRN_TRY_CTX(ParseFile(text, is_config, &profiles.profiles_), path);
  }
  return profiles;
}

const Profile* Profiles::Find(std::string_view name) const {
  const auto found = profiles_.find(name);
  return found == profiles_.end() ? nullptr : &found->second;
}

std::string ProfileName(const AwsDeps& deps, const std::string& configured) {
  return configured.empty() ? deps.variable("AWS_PROFILE").value_or("default") : configured;
}

std::string ValueOf(const Profile& profile, std::string_view key) {
  const auto found = profile.find(key);
  return found == profile.end() ? std::string() : found->second;
}

}  // namespace firn::http::aws
