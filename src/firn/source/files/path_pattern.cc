#include "firn/source/files/path_pattern.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace firn::source::files {

namespace {

constexpr std::string_view kWildcards = "*?[{\\";
constexpr size_t kMaxAlternatives = 1000;

Error Bad(std::string_view path, std::string_view why) {
  return Error(ErrorKind::kInvalidArgument, fmt::format("the pattern {} {}", path, why))
      .WithRemedy("A backslash takes the next character as it is.");
}

std::string Normalised(std::string_view path) {
  if (path.starts_with("file:")) {
    path.remove_prefix(5);
    if (path.starts_with("//localhost/")) path.remove_prefix(11);
    while (path.starts_with("//")) path.remove_prefix(1);
  }
  std::string text;
  const size_t scheme = path.find("://");
  if (scheme != std::string_view::npos) {
    text = path.substr(0, scheme + 3);
    path.remove_prefix(scheme + 3);
  }
  for (const char c : path) {
    if (c == '/' && text.ends_with('/')) continue;
    text += c;
  }
  return text;
}

/// Where the alternatives of the `{` at `open` are separated, its `}` last; empty when there is none.
std::vector<size_t> Separators(std::string_view pattern, size_t open) {
  std::vector<size_t> separators;
  int depth = 0;
  for (size_t i = open; i < pattern.size(); ++i) {
    if (pattern[i] == '{') ++depth;
    if (pattern[i] == '}' && --depth == 0) {
      separators.push_back(i);
      return separators;
    }
    if (pattern[i] == ',' && depth == 1) separators.push_back(i);
  }
  return {};
}

/// The first `{a,b}` taken apart, and what is left of it again.
Status Expand(const std::string& pattern, std::vector<std::string>& out) {
  const size_t open = pattern.find('{');
  if (open == std::string::npos) {
    out.push_back(pattern);
    return out.size() <= kMaxAlternatives ? Ok() : Status(Bad(pattern, "has too many alternatives"));
  }
  const std::vector<size_t> separators = Separators(pattern, open);
  if (separators.empty()) return Bad(pattern, "has a { without its }");
  size_t begin = open + 1;
  for (const size_t end : separators) {
    FIRN_TRY(Expand(
        pattern.substr(0, open) + pattern.substr(begin, end - begin) + pattern.substr(separators.back() + 1),
        out));
    begin = end + 1;
  }
  return Ok();
}

/// Takes one character and the part of the pattern that stands for exactly one; false when they differ.
bool TakeOne(std::string_view& pattern, char c) {
  if (pattern.front() == '[') {
    const size_t close = pattern.find(']', 2);
    if (close == std::string_view::npos) return false;
    std::string_view set = pattern.substr(1, close - 1);
    pattern.remove_prefix(close + 1);
    const bool negated = set.front() == '!' || set.front() == '^';
    if (negated) set.remove_prefix(1);
    bool in = false;
    for (size_t i = 0; i < set.size(); ++i) {
      const bool range = i + 2 < set.size() && set[i + 1] == '-';
      in |= range ? set[i] <= c && c <= set[i + 2] : set[i] == c;
      if (range) i += 2;
    }
    return in != negated && c != '/';
  }
  const bool any = pattern.front() == '?';
  if (pattern.front() == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
  const bool same = any ? c != '/' : pattern.front() == c;
  pattern.remove_prefix(1);
  return same;
}

bool MatchesAnyFolder(std::string_view rest, std::string_view path) {
  for (;;) {
    if (GlobMatches(rest, path)) return true;
    const size_t slash = path.find('/');
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

Status CheckBrackets(std::string_view pattern) {
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      if (++i == pattern.size()) return Bad(pattern, "ends with a backslash");
    } else if (pattern[i] == '[') {
      const size_t close = pattern.find(']', i + 2);
      if (close == std::string_view::npos) return Bad(pattern, "has a [ without its ]");
      i = close;
    }
  }
  return Ok();
}

bool IsHiddenName(std::string_view name) {
  constexpr std::array<std::string_view, 11> kTemporary = {
      ".tmp",     ".temp", ".crc", ".inprogress", ".in-progress", ".part",
      ".partial", ".swp",  "~",    "._COPYING_",  ".filepart"};
  if (name.starts_with('.')) return true;
  if (name.starts_with('_') && !name.contains('=')) return true;  // _a=b is a partition folder
  return std::ranges::any_of(kTemporary, [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace

Result<PathPattern> PathPattern::Parse(std::string_view path, bool include_hidden) {
  PathPattern pattern;
  pattern.include_hidden_ = include_hidden;
  pattern.text_ = Normalised(path);
  if (pattern.text_.empty() || pattern.text_ == "/" || pattern.text_.ends_with("://"))
    return Bad(path, "names nothing that files could be in");
  const size_t wildcard = pattern.text_.find_first_of(kWildcards);
  if (wildcard == std::string::npos) {
    while (pattern.text_.ends_with('/')) pattern.text_.pop_back();
    pattern.base_ = pattern.text_ + "/";
    return pattern;
  }
  const size_t slash = pattern.text_.rfind('/', wildcard);
  if (slash == std::string::npos) return Bad(path, "has no folder that it begins in");
  pattern.base_ = pattern.text_.substr(0, slash + 1);
  std::string below = pattern.text_.substr(slash + 1);
  if (below.ends_with('/')) below += "**";
  FIRN_TRY(CheckBrackets(below));
  FIRN_TRY(Expand(below, pattern.patterns_));
  return pattern;
}

std::optional<std::string_view> PathPattern::Match(std::string_view location) const {
  if (may_be_one_file() && location == text_) return std::string_view();
  if (!location.starts_with(base_)) return std::nullopt;
  const std::string_view path = location.substr(base_.size());
  if (path.empty() || path.ends_with('/')) return std::nullopt;  // S3: the marker of an empty folder
  if (!include_hidden_ && IsHiddenOrTemporary(path)) return std::nullopt;
  if (patterns_.empty() ||
      std::ranges::any_of(patterns_, [&](const std::string& p) { return GlobMatches(p, path); })) {
    return path;
  }
  return std::nullopt;
}

bool IsHiddenOrTemporary(std::string_view path) {
  size_t begin = 0;
  while (begin <= path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (IsHiddenName(path.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

bool GlobMatches(std::string_view pattern, std::string_view path) {
  while (!pattern.empty()) {
    if (pattern.starts_with("**/")) return MatchesAnyFolder(pattern.substr(3), path);
    if (pattern == "**") return true;
    if (pattern.front() == '*') {
      pattern.remove_prefix(1);
      for (size_t taken = 0; taken <= path.size(); ++taken) {
        if (GlobMatches(pattern, path.substr(taken))) return true;
        if (taken < path.size() && path[taken] == '/') return false;
      }
      return false;
    }
    if (path.empty() || !TakeOne(pattern, path.front())) return false;
    path.remove_prefix(1);
  }
  return path.empty();
}

}  // namespace firn::source::files
