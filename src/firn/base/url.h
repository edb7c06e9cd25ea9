#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/base/result.h"

namespace firn {

/// Percent-encodes all but RFC 3986's unreserved characters (letters, digits, `-._~`); hexadecimal in upper
/// case.
std::string PercentEncode(std::string_view text);
/// `%XX` to bytes; kInvalidArgument for a broken escape. `+` stays.
Result<std::string> PercentDecode(std::string_view text);

/// application/x-www-form-urlencoded as java.net.URLEncoder writes it (partition paths, OAuth bodies):
/// letters, digits and `.-*_` stay, a space becomes `+`, other bytes `%XX`.
std::string FormEncode(std::string_view text);
Result<std::string> FormDecode(std::string_view text);
std::string FormEncodePairs(const std::vector<std::pair<std::string, std::string>>& pairs);

}  // namespace firn
