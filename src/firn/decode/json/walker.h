#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "firn/decode/json/token_index.h"
#include "firn/decode/lexical.h"

namespace firn::decode {

/// Deepest nesting of objects and arrays that hold something; as simdjson's DOM parser has it.
inline constexpr int kMaxDepth = 1024;

/// A cursor over the tokens of one JSON text. What it steps over it validates: together with TokenIndex's own
/// checks, a text that was walked from its first token to its last is accepted exactly when simdjson's DOM
/// parser accepts it, but for numbers: any number of RFC 8259 is taken, also those beyond 64 bits and the
/// range of double, which DOM refuses.
class Walker {
 public:
  /// Text as for TokenIndex. Stands on the first token when the answer is kOk.
  IndexOutcome Start(std::string_view text);
  /// Back to the first token.
  void Restart();

  bool at_end() const { return at_ == end_; }
  /// First byte of the token ahead; 0 at the end.
  uint8_t Peek() const { return at_ != end_ ? base_[*at_] : 0; }
  /// Steps over a token and gives its first byte's place. Not at the end.
  const uint8_t* Take() { return base_ + *at_++; }
  bool TakeIf(uint8_t c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  /// Where the token ahead begins, or the end of the text.
  const uint8_t* next() const { return at_ != end_ ? base_ + *at_ : text_end_; }
  const uint8_t* text_end() const { return text_end_; }

  const uint32_t* mark() const { return at_; }
  void Return(const uint32_t* mark) { at_ = mark; }

  /// Whether a number or literal may end before `after`.
  bool EndsScalar(const uint8_t* after) const {
    return after < text_end_ ? kEndsScalar[*after] : after == text_end_;
  }
  bool IsNull(const uint8_t* token) const {
    return std::memcmp(token, "null", 4) == 0 && EndsScalar(token + 4);
  }
  bool IsTrue(const uint8_t* token) const {
    return std::memcmp(token, "true", 4) == 0 && EndsScalar(token + 4);
  }
  bool IsFalse(const uint8_t* token) const {
    return std::memcmp(token, "false", 5) == 0 && EndsScalar(token + 5);
  }

  /// Contents of the string whose opening quote is `token`: in place, or unescaped into a buffer that the
  /// next call overwrites. The byte behind is readable and no digit. False when an escape is wrong.
  bool ReadString(const uint8_t* token, std::string_view* out);
  uint8_t* Unescape(const uint8_t* after_quote, uint8_t* out) const {
    return index_.Unescape(after_quote, out);
  }

  /// Steps over one value of any kind; gives its end, null when it is malformed.
  const uint8_t* SkipValue();
  /// Whether the whole text is one JSON value. Moves the cursor anywhere.
  bool ValidateAll();

  bool Descend() { return ++depth_ < kMaxDepth; }
  void Ascend() { --depth_; }

 private:
  const uint8_t* SkipString(const uint8_t* token);
  const uint8_t* SkipObject();
  const uint8_t* SkipArray();
  bool ValidateRootScalar();

  TokenIndex index_;
  std::string_view text_;
  const uint8_t* base_ = nullptr;
  const uint8_t* text_end_ = nullptr;
  const uint32_t* at_ = nullptr;
  const uint32_t* end_ = nullptr;
  int depth_ = 0;
  std::vector<uint8_t> scratch_;
};

}  // namespace firn::decode
