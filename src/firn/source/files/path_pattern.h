#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"

namespace firn::source::files {

/// Which files a source reads: one file, everything below a folder, or a pattern. `*` and `?` stay within one
/// name, `**` stands for any number of folders, `[a-z]` and `[!a-z]` for one character, `{a,b}` for either;
/// a backslash takes the next character as it is. Hidden and temporary names below the base never match
/// unless asked for.
class PathPattern {
 public:
  /// kInvalidArgument for a pattern that is not whole.
  static Result<PathPattern> Parse(std::string_view path, bool include_hidden);

  /// The location in its normal form (no `file:` scheme, no doubled slashes): the identity of the source.
  const std::string& text() const { return text_; }
  /// Locations begin with this; ends with a slash.
  const std::string& base() const { return base_; }
  /// Without wildcards: `text()` may be one file.
  bool may_be_one_file() const { return patterns_.empty(); }

  /// The path below base() of a location that the source reads; empty when it does not. The one file of a
  /// source has the path "".
  std::optional<std::string_view> Match(std::string_view location) const;
  std::string LocationOf(std::string_view path) const {
    return path.empty() ? text_ : base_ + std::string(path);
  }

 private:
  std::string text_;
  std::string base_;
  std::vector<std::string> patterns_;  ///< below the base, braces taken apart
  bool include_hidden_ = false;
};

/// Whether a path has a name in it that says "not yet" or "not for readers".
bool IsHiddenOrTemporary(std::string_view path);

/// Whether a path matches a pattern without braces.
bool GlobMatches(std::string_view pattern, std::string_view path);

}  // namespace firn::source::files
