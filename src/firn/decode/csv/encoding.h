#pragma once

#include <string>
#include <string_view>

#include "firn/decode/csv/dialect.h"

namespace firn::decode {

/// Bytes of one code unit.
inline int UnitBytes(CsvEncoding encoding) {
  return encoding == CsvEncoding::kUtf16Le || encoding == CsvEncoding::kUtf16Be ? 2 : 1;
}

/// The byte-order mark that a text in this encoding may begin with; empty for those that have none.
std::string_view ByteOrderMark(CsvEncoding encoding);

/// For people: `utf-16le`.
std::string_view ToString(CsvEncoding encoding);

/// The text in UTF-8, without a byte-order mark at its beginning. False when it is not well-formed in its
/// encoding (a lone surrogate, half a code unit); every byte is a character in latin1 and windows-1252,
/// whose five undefined bytes become the control characters of the same number.
bool ToUtf8(std::string_view bytes, CsvEncoding encoding, std::string* out);

}  // namespace firn::decode
