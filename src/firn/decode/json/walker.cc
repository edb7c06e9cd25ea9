#include "firn/decode/json/walker.h"

#include <string>

#include "firn/decode/number.h"

namespace firn::decode {

namespace {

/// Readable bytes that a scan may touch behind a text, as in record::Arena.
constexpr size_t kPadding = 64;

}  // namespace

IndexOutcome Walker::Start(std::string_view text) {
  const IndexOutcome outcome = index_.Index(text);
  text_ = text;
  base_ = reinterpret_cast<const uint8_t*>(text.data());
  text_end_ = base_ + text.size();
  Restart();
  return outcome;
}

void Walker::Restart() {
  at_ = index_.begin();
  end_ = index_.end();
  depth_ = 0;
}

bool Walker::ReadString(const uint8_t* token, std::string_view* out) {
  const uint8_t* begin = token + 1;
  const uint8_t* stop = FindQuoteOrBackslash(begin);
  if (*stop == '"') {
    *out = {reinterpret_cast<const char*>(begin), static_cast<size_t>(stop - begin)};
    return true;
  }
  const auto most = static_cast<size_t>(FindClosingQuote(stop) - begin);
  if (scratch_.size() < most + TokenIndex::kUnescapeSlack)
    scratch_.resize(2 * most + TokenIndex::kUnescapeSlack);
  uint8_t* end = Unescape(begin, scratch_.data());
  if (end == nullptr) return false;
  *end = 0;
  *out = {reinterpret_cast<const char*>(scratch_.data()), static_cast<size_t>(end - scratch_.data())};
  return true;
}

const uint8_t* Walker::SkipString(const uint8_t* token) {
  const uint8_t* stop = FindQuoteOrBackslash(token + 1);
  if (*stop == '"') return stop + 1;
  std::string_view text;
  return ReadString(token, &text) ? FindClosingQuote(stop) + 1 : nullptr;
}

const uint8_t* Walker::SkipValue() {
  if (at_end()) return nullptr;
  const uint8_t* token = Take();
  switch (*token) {
    case '{':
      return SkipObject();
    case '[':
      return SkipArray();
    case '"':
      return SkipString(token);
    case 'n':
      return IsNull(token) ? token + 4 : nullptr;
    case 't':
      return IsTrue(token) ? token + 4 : nullptr;
    case 'f':
      return IsFalse(token) ? token + 5 : nullptr;
    default:
      NumberText number;
      return ScanNumber(token, &number) && EndsScalar(number.end) ? number.end : nullptr;
  }
}

const uint8_t* Walker::SkipObject() {
  if (Peek() == '}') return Take() + 1;
  if (!Descend()) return nullptr;
  for (;;) {
    if (Peek() != '"' || SkipString(Take()) == nullptr) return nullptr;
    if (!TakeIf(':') || SkipValue() == nullptr || at_end()) return nullptr;
    const uint8_t* token = Take();
    if (*token == '}') {
      Ascend();
      return token + 1;
    }
    if (*token != ',') return nullptr;
  }
}

const uint8_t* Walker::SkipArray() {
  if (Peek() == ']') return Take() + 1;
  if (!Descend()) return nullptr;
  for (;;) {
    if (SkipValue() == nullptr || at_end()) return nullptr;
    const uint8_t* token = Take();
    if (*token == ']') {
      Ascend();
      return token + 1;
    }
    if (*token != ',') return nullptr;
  }
}

bool Walker::ValidateAll() {
  Restart();
  if (at_end()) return false;
  const uint8_t first = Peek();
  if (first != '{' && first != '[') return ValidateRootScalar();
  return SkipValue() != nullptr && at_end();
}

/// A scalar at the top may end where the text ends, and what lies behind is not ours: judge a copy.
bool Walker::ValidateRootScalar() {
  if (end_ - at_ != 1) return false;
  std::string copy(text_);
  copy.append(kPadding, '\0');
  base_ = reinterpret_cast<const uint8_t*>(copy.data());
  text_end_ = base_ + text_.size();
  const bool valid = SkipValue() != nullptr;
  base_ = reinterpret_cast<const uint8_t*>(text_.data());
  text_end_ = base_ + text_.size();
  return valid;
}

}  // namespace firn::decode
