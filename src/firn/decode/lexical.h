#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace firn::decode {

inline bool IsDigit(uint8_t c) { return static_cast<uint8_t>(c - '0') < 10; }

/// Bytes that may stand right behind a number or a literal.
inline constexpr std::array<bool, 256> kEndsScalar = [] {
  std::array<bool, 256> table{};
  for (const char c : {' ', '\t', '\n', '\r', ',', ':', '}', ']', '{', '['})
    table[static_cast<uint8_t>(c)] = true;
  return table;
}();

/// First quote or backslash at or after `at`. There must be one; 15 bytes behind it must be readable.
inline const uint8_t* FindQuoteOrBackslash(const uint8_t* at) {
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  for (;; at += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const int found =
        _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)));
    if (found != 0) return at + __builtin_ctz(static_cast<unsigned>(found));
  }
#else
  while (*at != '"' && *at != '\\') ++at;
  return at;
#endif
}

/// Closing quote of a string of an indexed text, escapes included.
inline const uint8_t* FindClosingQuote(const uint8_t* after_quote) {
  for (const uint8_t* at = after_quote;; at += 2) {
    at = FindQuoteOrBackslash(at);
    if (*at == '"') return at;
  }
}

}  // namespace firn::decode
