#include "firn/decode/csv/record_splitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "firn/decode/csv/encoding.h"

namespace firn::decode {

namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;

}  // namespace

RecordSplitter::RecordSplitter(const CsvDialect& dialect, std::unique_ptr<record::ByteStream> stream)
    : dialect_(dialect), stream_(std::move(stream)) {
  for (const char c : {'\n', '\r'}) ends_plain_[static_cast<uint8_t>(c)] = true;
  ends_quoted_ = ends_plain_;
  ends_plain_[static_cast<uint8_t>(dialect_.delimiter)] = true;
  if (dialect_.quote) ends_quoted_[static_cast<uint8_t>(*dialect_.quote)] = true;
  if (dialect_.backslash_escapes) ends_plain_['\\'] = ends_quoted_['\\'] = true;
}

/// More bytes behind the buffer's; drops those before the record. False at the end, and on an error.
bool RecordSplitter::Fill() {
  if (stream_ended_ || !status_.ok()) return false;
  buffer_.erase(0, begin_);
  base_ += static_cast<int64_t>(begin_);
  at_ -= begin_;
  begin_ = 0;
  const size_t size = buffer_.size();
  buffer_.resize(size + kChunkBytes);
  const Result<size_t> read = stream_->Read(buffer_.data() + size, kChunkBytes);
  if (!read.ok()) status_ = read.error();
  buffer_.resize(size + (read.ok() ? *read : 0));
  stream_ended_ = !read.ok() || *read == 0;
  return !stream_ended_;
}

uint32_t RecordSplitter::Code(const std::optional<char>& c) const {
  return c ? static_cast<uint8_t>(*c) : kEnd - 1;
}

/// The walk through code units of one size.
template <int kBytes, bool kBigEndian>
class RecordSplitter::Scanner {
 public:
  explicit Scanner(RecordSplitter& owner)
      : o_(owner),
        delimiter_(static_cast<uint8_t>(owner.dialect_.delimiter)),
        quote_(owner.Code(owner.dialect_.quote)),
        comment_(owner.Code(owner.dialect_.comment)),
        max_bytes_(owner.dialect_.too_long_bytes()) {}

  bool Next(std::string_view* text) {
    for (;;) {
      o_.begin_ = o_.at_;
      const uint32_t c = Peek();
      if (c == kEnd && o_.at_ >= o_.buffer_.size()) return false;
      if (IsLineBreak(c)) {
        TakeLineBreak();
      } else if (c == comment_) {
        SkipLine();
      } else {
        o_.record_line_ = o_.lines_;
        *text = TakeRecord();
        if (!IsBlank(*text)) return true;
      }
    }
  }

 private:
  static bool IsLineBreak(uint32_t c) { return c == '\n' || c == '\r'; }

  uint32_t UnitAt(size_t at) const {
    const auto first = static_cast<uint8_t>(o_.buffer_[at]);
    if constexpr (kBytes == 1) return first;
    const auto second = static_cast<uint8_t>(o_.buffer_[at + 1]);
    return kBigEndian ? static_cast<uint32_t>(first << 8 | second)
                      : static_cast<uint32_t>(second << 8 | first);
  }

  uint32_t Peek() {
    while (o_.at_ + kBytes > o_.buffer_.size()) {
      if (!o_.Fill()) return kEnd;
    }
    return UnitAt(o_.at_);
  }

  void TakeLineBreak() {
    const uint32_t c = UnitAt(o_.at_);
    o_.at_ += kBytes;
    if (c == '\r' && Peek() == '\n') o_.at_ += kBytes;
    ++o_.lines_;
  }

  void SkipLine() {
    for (;;) {
      o_.begin_ = o_.at_;
      const uint32_t c = Peek();
      if (c == kEnd) o_.at_ = o_.begin_ = o_.buffer_.size();
      if (c == kEnd) return;
      if (IsLineBreak(c)) return TakeLineBreak();
      o_.at_ += kBytes;
    }
  }

  /// With trim a line of nothing but spaces is a blank one.
  bool IsBlank(std::string_view text) const {
    if (!o_.dialect_.trim) return false;
    return std::ranges::all_of(text, [](char c) { return c == ' ' || c == '\t' || c == '\0'; }) &&
           text.find(o_.dialect_.delimiter) == std::string_view::npos;
  }

  std::string_view TakeRecord() {
    state_ = State::kFieldStart;
    inner_lines_ = 0;
    after_return_ = false;
    for (;;) {
      const uint32_t c = Peek();
      if (o_.length() >= max_bytes_) return CutOff();
      if (c == kEnd) {
        o_.at_ = o_.buffer_.size();  // half a code unit is part of the record
        return Text(o_.length());
      }
      if (state_ != State::kQuoted && IsLineBreak(c)) {
        const size_t length = o_.length();
        o_.lines_ += inner_lines_;
        TakeLineBreak();
        return Text(length);
      }
      Take(c);
    }
  }

  std::string_view Text(size_t length) const { return {o_.buffer_.data() + o_.begin_, length}; }

  void Take(uint32_t c) {
    if (c == '\\' && o_.dialect_.backslash_escapes) return TakeEscape();
    switch (state_) {
      case State::kFieldStart:
        if (c == quote_) {
          state_ = State::kQuoted;
          quote_begin_ = o_.length();
        } else if (c != delimiter_ && !(o_.dialect_.trim && (c == ' ' || c == '\t'))) {
          state_ = State::kPlain;
        }
        break;
      case State::kPlain:
        if (c == delimiter_) state_ = State::kFieldStart;
        break;
      case State::kQuoted:
        if (c == quote_) state_ = State::kQuoteInQuotes;
        CountLine(c);
        break;
      case State::kQuoteInQuotes:
        state_ = c == quote_ ? State::kQuoted : c == delimiter_ ? State::kFieldStart : State::kPlain;
        break;
    }
    o_.at_ += kBytes;
    SkipRun();
  }

  void TakeEscape() {
    if (state_ == State::kFieldStart || state_ == State::kQuoteInQuotes) state_ = State::kPlain;
    o_.at_ += kBytes;
    const uint32_t escaped = Peek();
    if (escaped == kEnd) return;
    CountLine(escaped);
    o_.at_ += kBytes;
  }

  void CountLine(uint32_t c) {
    if (c == '\r' || (c == '\n' && !after_return_)) ++inner_lines_;
    after_return_ = c == '\r';
  }

  /// Bytes that change nothing, quickly.
  void SkipRun() {
    if constexpr (kBytes == 1) {
      if (state_ != State::kPlain && state_ != State::kQuoted) return;
      const auto& ends = state_ == State::kPlain ? o_.ends_plain_ : o_.ends_quoted_;
      const size_t begin = o_.at_;
      while (o_.at_ < o_.buffer_.size() && !ends[static_cast<uint8_t>(o_.buffer_[o_.at_])]) ++o_.at_;
      if (o_.at_ > begin) after_return_ = false;
    }
  }

  /// The record is too long: class comment.
  std::string_view CutOff() {
    const std::string_view most = Text(max_bytes_);
    size_t length = max_bytes_;
    if (state_ == State::kQuoted) length = LastLineBreak(most.substr(0, max_bytes_));
    const bool at_line_break = length < max_bytes_;
    o_.cut_off_ = most.substr(0, length);
    o_.lines_ += CountLines(o_.cut_off_);
    o_.at_ = o_.begin_ + length;
    if (at_line_break) {
      TakeLineBreak();
    } else {
      SkipLine();
    }
    return o_.cut_off_;
  }

  /// Of the last line break behind the open quote; max_bytes_ when there is none.
  size_t LastLineBreak(std::string_view text) const {
    const size_t begin = text.data() - o_.buffer_.data();
    for (size_t end = text.size() - text.size() % kBytes; end > quote_begin_ + kBytes; end -= kBytes) {
      const size_t at = end - kBytes;
      if (!IsLineBreak(UnitAt(begin + at))) continue;
      const bool has_return =
          UnitAt(begin + at) == '\n' && at >= kBytes && UnitAt(begin + at - kBytes) == '\r';
      return has_return ? at - kBytes : at;
    }
    return max_bytes_;
  }

  int64_t CountLines(std::string_view text) {
    int64_t count = 0;
    bool after_return = false;
    const size_t begin = o_.begin_;
    for (size_t at = 0; at + kBytes <= text.size(); at += kBytes) {
      const uint32_t c = UnitAt(begin + at);
      if (c == '\r' || (c == '\n' && !after_return)) ++count;
      after_return = c == '\r';
    }
    return count;
  }

  RecordSplitter& o_;
  const uint32_t delimiter_;
  const uint32_t quote_;
  const uint32_t comment_;
  const size_t max_bytes_;
  State state_ = State::kFieldStart;
  size_t quote_begin_ = 0;
  int64_t inner_lines_ = 0;
  bool after_return_ = false;
};

Status RecordSplitter::SkipByteOrderMark() {
  while (buffer_.size() < 3 && Fill()) {
  }
  FIRN_TRY(status_);
  for (const CsvEncoding encoding : {CsvEncoding::kUtf8, CsvEncoding::kUtf16Le, CsvEncoding::kUtf16Be}) {
    if (!buffer_.starts_with(ByteOrderMark(encoding))) continue;
    if (encoding != dialect_.encoding) {
      return Error(ErrorKind::kCorrupt,
                   fmt::format("the file begins with the byte-order mark of {}, but is to be read as {}",
                               ToString(encoding), ToString(dialect_.encoding)))
          .WithRemedy(fmt::format("Set encoding: {}.", ToString(encoding)));
    }
    at_ = begin_ = ByteOrderMark(encoding).size();
  }
  return Ok();
}

Status RecordSplitter::SkipTo(int64_t byte, int64_t line) {
  lines_ = line;
  for (;;) {
    if (byte < this->byte()) {
      return Error(ErrorKind::kCorrupt,
                   fmt::format("reading was to go on at byte {}, but the first record begins at byte {}",
                               byte, this->byte()))
          .WithRemedy("The file or `header:` is not what it was when it was begun.");
    }
    const int64_t missing = byte - this->byte();
    at_ += static_cast<size_t>(std::min<int64_t>(missing, static_cast<int64_t>(buffer_.size() - at_)));
    begin_ = at_;
    if (this->byte() == byte) return Ok();
    FIRN_TRY(SkipUnread(byte - this->byte() - 1));  // the last byte is read: it must be there
    if (!Fill()) break;
  }
  FIRN_TRY(status_);
  return Error(
      ErrorKind::kCorrupt,
      fmt::format("the file ends at byte {}, before byte {} where reading was to go on", this->byte(), byte));
}

/// With nothing left in the buffer.
Status RecordSplitter::SkipUnread(int64_t bytes) {
  if (bytes < static_cast<int64_t>(kChunkBytes)) return Ok();
  FIRN_TRY(stream_->Skip(bytes));
  base_ += static_cast<int64_t>(buffer_.size()) + bytes;
  buffer_.clear();
  at_ = begin_ = 0;
  return Ok();
}

Result<bool> RecordSplitter::Next(std::string_view* text) {
  bool found = false;
  switch (dialect_.encoding) {
    case CsvEncoding::kUtf16Le:
      found = Scanner<2, false>(*this).Next(text);
      break;
    case CsvEncoding::kUtf16Be:
      found = Scanner<2, true>(*this).Next(text);
      break;
    default:
      found = Scanner<1, false>(*this).Next(text);
      break;
  }
  FIRN_TRY(status_);
  return found;
}

}  // namespace firn::decode
