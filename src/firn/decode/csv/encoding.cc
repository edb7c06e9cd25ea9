#include "firn/decode/csv/encoding.h"

#include <array>
#include <cstdint>

#include "firn/base/bytes.h"

namespace firn::decode {

namespace {

/// 0x80 to 0x9F; 0 where the encoding defines nothing.
constexpr std::array<uint16_t, 32> kWindows1252High = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

void AppendCodePoint(uint32_t c, std::string* out) {
  const auto push = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    push(c);
  } else if (c < 0x800) {
    push(0xC0 | c >> 6);
    push(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    push(0xE0 | c >> 12);
    push(0x80 | (c >> 6 & 0x3F));
    push(0x80 | (c & 0x3F));
  } else {
    push(0xF0 | c >> 18);
    push(0x80 | (c >> 12 & 0x3F));
    push(0x80 | (c >> 6 & 0x3F));
    push(0x80 | (c & 0x3F));
  }
}

void FromSingleBytes(std::string_view bytes, bool windows, std::string* out) {
  for (const char byte : bytes) {
    const auto c = static_cast<uint8_t>(byte);
    const bool high = windows && c >= 0x80 && c < 0xA0 && kWindows1252High[c - 0x80U] != 0;
    AppendCodePoint(high ? kWindows1252High[c - 0x80U] : c, out);
  }
}

uint32_t UnitAt(std::string_view bytes, size_t at, bool big_endian) {
  const auto first = static_cast<uint8_t>(bytes[at]);
  const auto second = static_cast<uint8_t>(bytes[at + 1]);
  return big_endian ? static_cast<uint32_t>(first << 8 | second) : static_cast<uint32_t>(second << 8 | first);
}

bool FromUtf16(std::string_view bytes, bool big_endian, std::string* out) {
  if (bytes.size() % 2 != 0) return false;
  for (size_t at = 0; at < bytes.size(); at += 2) {
    uint32_t c = UnitAt(bytes, at, big_endian);
    if (c >= 0xDC00 && c <= 0xDFFF) return false;
    if (c >= 0xD800 && c <= 0xDBFF) {
      at += 2;
      if (at >= bytes.size()) return false;
      const uint32_t low = UnitAt(bytes, at, big_endian);
      if (low < 0xDC00 || low > 0xDFFF) return false;
      c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    AppendCodePoint(c, out);
  }
  return true;
}

}  // namespace

std::string_view ByteOrderMark(CsvEncoding encoding) {
  switch (encoding) {
    case CsvEncoding::kUtf8:
      return "\xEF\xBB\xBF";
    case CsvEncoding::kUtf16Le:
      return "\xFF\xFE";
    case CsvEncoding::kUtf16Be:
      return "\xFE\xFF";
    default:
      return {};
  }
}

std::string_view ToString(CsvEncoding encoding) {
  switch (encoding) {
    case CsvEncoding::kUtf8:
      return "utf-8";
    case CsvEncoding::kUtf16Le:
      return "utf-16le";
    case CsvEncoding::kUtf16Be:
      return "utf-16be";
    case CsvEncoding::kLatin1:
      return "latin1";
    case CsvEncoding::kWindows1252:
      return "windows-1252";
  }
  return "?";
}

bool ToUtf8(std::string_view bytes, CsvEncoding encoding, std::string* out) {
  out->clear();
  if (bytes.starts_with(ByteOrderMark(encoding))) bytes.remove_prefix(ByteOrderMark(encoding).size());
  switch (encoding) {
    case CsvEncoding::kUtf8:
      *out = bytes;
      return IsValidUtf8(bytes);
    case CsvEncoding::kUtf16Le:
    case CsvEncoding::kUtf16Be:
      return FromUtf16(bytes, encoding == CsvEncoding::kUtf16Be, out);
    case CsvEncoding::kLatin1:
    case CsvEncoding::kWindows1252:
      FromSingleBytes(bytes, encoding == CsvEncoding::kWindows1252, out);
      return true;
  }
  return false;
}

}  // namespace firn::decode
