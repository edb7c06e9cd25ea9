#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"

namespace firn::iceberg {

enum class TokenKind : uint8_t { kName, kQuotedName, kText, kBytes, kNumber, kSymbol, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;   ///< quotes taken off; for kBytes the hexadecimal digits
  std::string upper;  ///< kName: in upper case, to compare with keywords
  size_t at = 0;      ///< position in the text, from 1
};

/// The words of a filter; the last one is kEnd.
Result<std::vector<Token>> TokenizeFilter(std::string_view text);

Error FilterError(size_t at, std::string_view why);

}  // namespace firn::iceberg
