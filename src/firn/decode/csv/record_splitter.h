#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/decode/csv/dialect.h"
#include "firn/record/file_format.h"

namespace firn::decode {

/// Finds the records of a CSV file in the file's own encoding; line breaks may be \n, \r\n or \r, and stand
/// inside quotes. Blank lines and comments are passed over.
///
/// A record of CsvDialect::max_record_bytes or more is cut off. Where that is because of a quote that does
/// not end, the record is what lies before the last line break in these bytes, and reading goes on in the
/// line behind it; else the record is those bytes, and what else is on the line is passed over. So memory is
/// bounded, and a stray quote costs at most that much of the file.
class RecordSplitter {
 public:
  /// `stream` stands at the beginning of the file.
  RecordSplitter(const CsvDialect& dialect, std::unique_ptr<record::ByteStream> stream);

  /// Passes over a byte-order mark; kCorrupt when it is that of another encoding. Call it first.
  Status SkipByteOrderMark();
  /// Passes over everything before this byte of the file; not backwards. `line`: lines before it.
  Status SkipTo(int64_t byte, int64_t line);

  /// The next record, without its line break; false at the end. `text` is valid until the next call.
  Result<bool> Next(std::string_view* text);

  /// Bytes and lines before the next record (or blank line or comment); line (from 0) of the last record.
  int64_t byte() const { return base_ + static_cast<int64_t>(at_); }
  int64_t line() const { return lines_; }
  int64_t record_line() const { return record_line_; }

 private:
  enum class State : uint8_t { kFieldStart, kPlain, kQuoted, kQuoteInQuotes };
  static constexpr uint32_t kEnd = UINT32_MAX;

  template <int kBytes, bool kBigEndian>
  class Scanner;

  bool Fill();
  Status SkipUnread(int64_t bytes);
  size_t length() const { return at_ - begin_; }
  uint32_t Code(const std::optional<char>& c) const;

  const CsvDialect& dialect_;
  std::unique_ptr<record::ByteStream> stream_;
  std::string buffer_;
  std::string cut_off_;  ///< a record that was too long
  Status status_ = Ok();
  bool stream_ended_ = false;
  int64_t base_ = 0;  ///< of the buffer in the file
  size_t begin_ = 0;  ///< of the record; what lies before it may be dropped
  size_t at_ = 0;
  int64_t lines_ = 0;
  int64_t record_line_ = 0;
  std::array<bool, 256> ends_plain_{};   ///< bytes that may end a run of plain text
  std::array<bool, 256> ends_quoted_{};  ///< the same inside quotes
};

}  // namespace firn::decode
