#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace firn::decode {

enum class IndexOutcome : uint8_t { kOk, kEmpty, kInvalidUtf8, kMalformed };

/// Where the tokens of one JSON text begin, found by simdjson's vectorised first stage: every bracket, colon
/// and comma, the opening quote of every string and the first byte of every other scalar. That stage also
/// answers for the whole text that it is UTF-8, that strings are closed and hold no bare control characters;
/// everything else is the walker's to check.
///
/// Why not simdjson's On-Demand front end: it does not look at what it skips, and forbids any touch after its
/// first error. A walk over this index sees every token once, so it is strict by construction, and is no
/// slower.
///
/// Not thread-safe. The text must be followed by record::kArenaPadding readable bytes.
class TokenIndex {
 public:
  TokenIndex();
  TokenIndex(const TokenIndex&) = delete;
  TokenIndex& operator=(const TokenIndex&) = delete;
  ~TokenIndex();

  /// Replaces the index. Throws std::bad_alloc when there is no memory for a text of this length.
  IndexOutcome Index(std::string_view text);

  /// Offsets of the tokens of the last text, valid until the next Index.
  const uint32_t* begin() const { return begin_; }
  const uint32_t* end() const { return end_; }

  /// Unescapes the string that starts after an opening quote of an indexed text. Writes at most its length,
  /// plus kUnescapeSlack; returns the end of what was written, null when an escape or a surrogate is wrong.
  uint8_t* Unescape(const uint8_t* after_quote, uint8_t* out) const;
  static constexpr size_t kUnescapeSlack = 64;

 private:
  struct Stage;
  std::unique_ptr<Stage> stage_;
  const uint32_t* begin_ = nullptr;
  const uint32_t* end_ = nullptr;
};

}  // namespace firn::decode
