#include "firn/base/url.h"

#include <algorithm>

#include "firn/base/bytes.h"

namespace firn {

namespace {

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void AppendEscaped(std::string& out, char c) {
  constexpr std::string_view kUpperHex = "0123456789ABCDEF";
  out += '%';
  out += kUpperHex[static_cast<unsigned char>(c) >> 4U];
  out += kUpperHex[static_cast<unsigned char>(c) & 15U];
}

std::string EncodeAllBut(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (IsAlphanumeric(c) || kept.find(c) != std::string_view::npos) {
      out += c;
    } else {
      AppendEscaped(out, c);
    }
  }
  return out;
}

}  // namespace

std::string PercentEncode(std::string_view text) { return EncodeAllBut(text, "-._~"); }

Result<std::string> PercentDecode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    auto byte = HexDecode(text.substr(std::min(i + 1, text.size()), 2));
    if (!byte.ok() || byte->size() != 1) {
      return Error(ErrorKind::kInvalidArgument, "broken percent escape in '" + Excerpt(text) + "'");
    }
    out += *byte;
    i += 2;
  }
  return out;
}

std::string FormEncode(std::string_view text) {
  std::string out = EncodeAllBut(text, ".-*_ ");
  std::ranges::replace(out, ' ', '+');
  return out;
}

Result<std::string> FormDecode(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return PercentDecode(spaced);
}

std::string FormEncodePairs(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string out;
  for (const auto& [name, value] : pairs) {
    if (!out.empty()) out += '&';
    out += FormEncode(name) + '=' + FormEncode(value);
  }
  return out;
}

}  // namespace firn
