#pragma once

#include <string>
#include <string_view>

#include "firn/base/result.h"

namespace firn::store {

/// A local location taken apart: `scheme` + `path` is the location again (`file://` + `/a/b`, or empty +
/// `/a/b`).
struct LocalLocation {
  std::string scheme;
  std::string path;
};

/// `file:///a/b`, `file://localhost/a/b`, `file:/a/b` and `/a/b`, all absolute. Percent signs are ordinary
/// characters: like Java's Hadoop paths and PyIceberg, nothing is decoded, so a partition folder
/// `d=2024%2F01` is a folder of that name.
Result<LocalLocation> ParseLocalLocation(std::string_view location);

/// Whether a location is one of the local store's (`file:` or an absolute path).
bool IsLocalLocation(std::string_view location);

/// `file://` + the absolute, normalised form of a path (`~` is not expanded). A local location in any of the
/// forms above keeps its meaning.
std::string ToFileUri(std::string_view path_or_location);

}  // namespace firn::store
