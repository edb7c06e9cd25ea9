#pragma once

#include <string>
#include <string_view>

#include "firn/base/result.h"

namespace firn {

/// Lower-case hexadecimal.
std::string HexEncode(std::string_view bytes);
/// Either case; kInvalidArgument for an odd length or another character.
Result<std::string> HexDecode(std::string_view text);

/// RFC 4648 with padding: the standard alphabet, or the URL one (`-`, `_`).
std::string Base64Encode(std::string_view bytes);
std::string Base64UrlEncode(std::string_view bytes);
/// Takes either alphabet, with or without padding; nothing else (no line breaks).
Result<std::string> Base64Decode(std::string_view text);

/// Text for a log or an error message: printable ASCII and valid UTF-8 as it is, other bytes as \xNN,
/// cut after `max_bytes` with a mark that says how much is missing.
std::string Excerpt(std::string_view bytes, size_t max_bytes = 120);

/// Well-formed UTF-8 (no surrogates, no overlong forms, at most U+10FFFF).
bool IsValidUtf8(std::string_view bytes);

}  // namespace firn
