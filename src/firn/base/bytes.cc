#include "firn/base/bytes.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace firn {

namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase64Url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr std::array<int8_t, 256> MakeBase64Values() {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (size_t i = 0; i < 64; ++i) {
    values[static_cast<uint8_t>(kBase64[i])] = static_cast<int8_t>(i);
    values[static_cast<uint8_t>(kBase64Url[i])] = static_cast<int8_t>(i);
  }
  return values;
}
constexpr auto kBase64Values = MakeBase64Values();

std::string Encode(std::string_view bytes, std::string_view alphabet) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t take = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) group = group << 8 | (j < take ? static_cast<uint8_t>(bytes[i + j]) : 0U);
    for (size_t j = 0; j < 4; ++j) out += j <= take ? alphabet[group >> (18 - 6 * j) & 63U] : '=';
  }
  return out;
}

Error BadBase64() { return {ErrorKind::kInvalidArgument, "not a base64 text"}; }

/// Length of the well-formed UTF-8 sequence at the start, 0 when there is none.
size_t SequenceLength(std::string_view bytes) {
  const auto lead = static_cast<uint8_t>(bytes[0]);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || bytes.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<uint8_t>(bytes[i]) & 0xC0U) != 0x80U) return 0;
  }
  const auto second = static_cast<uint8_t>(bytes[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool beyond = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return overlong || beyond ? 0 : length;
}

}  // namespace

std::string HexEncode(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    out += kHexDigits[static_cast<uint8_t>(c) >> 4U];
    out += kHexDigits[static_cast<uint8_t>(c) & 15U];
  }
  return out;
}

Result<std::string> HexDecode(std::string_view text) {
  if (text.size() % 2 != 0) return Error(ErrorKind::kInvalidArgument, "hexadecimal text of odd length");
  std::string out;
  out.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = HexValue(text[i]);
    const int low = HexValue(text[i + 1]);
    if (high < 0 || low < 0) return Error(ErrorKind::kInvalidArgument, "not a hexadecimal text");
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

std::string Base64Encode(std::string_view bytes) { return Encode(bytes, kBase64); }
std::string Base64UrlEncode(std::string_view bytes) { return Encode(bytes, kBase64Url); }

Result<std::string> Base64Decode(std::string_view text) {
  if (text.ends_with("==") && text.size() % 4 == 0) {
    text.remove_suffix(2);
  } else if (text.ends_with('=') && text.size() % 4 == 0) {
    text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) return BadBase64();
  std::string out;
  out.reserve(text.size() * 3 / 4);
  uint32_t group = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const int8_t value = kBase64Values[static_cast<uint8_t>(c)];
    if (value < 0) return BadBase64();
    group = (group << 6U | static_cast<uint32_t>(value)) & 0xFFFFFFU;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(group >> bits & 0xFFU);
  }
  if ((group & ((1U << bits) - 1)) != 0) return BadBase64();
  return out;
}

std::string Excerpt(std::string_view bytes, size_t max_bytes) {
  std::string out;
  size_t i = 0;
  while (i < bytes.size() && i < max_bytes) {
    const size_t length = SequenceLength(bytes.substr(i));
    const auto c = static_cast<uint8_t>(bytes[i]);
    if (length == 0 || c < 0x20 || c == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", c);
      ++i;
    } else {
      out.append(bytes.substr(i, length));
      i += length;
    }
  }
  if (i < bytes.size()) fmt::format_to(std::back_inserter(out), "... ({} bytes more)", bytes.size() - i);
  return out;
}

bool IsValidUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t length = SequenceLength(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

}  // namespace firn
