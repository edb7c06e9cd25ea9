#include "firn/decode/json/json_files.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace firn::decode {

namespace {

using record::ByteStream;
using record::FilePosition;
using record::RawBatch;

constexpr size_t kReadBytes = size_t{256} << 10;
constexpr size_t kSeenBytes = size_t{64} << 10;  ///< of the beginning, to tell the form
constexpr size_t kShownOfTooLong = size_t{64} << 10;
constexpr std::string_view kSpace = " \t\r\n";

enum class Form : uint8_t { kLines, kArray, kValues };

/// Where a JSON value ends, found without looking at what is in it. Goes on where it stopped when there is
/// more text.
class ValueEnd {
 public:
  static constexpr size_t kNotYet = SIZE_MAX;

  /// `text` begins with the value; what was looked at before is passed over. One past the end of the value,
  /// or kNotYet when the text ends first (at the end of a file: the value is `text.size()` long).
  size_t Find(std::string_view text) {
    for (; at_ < text.size(); ++at_) {
      const char c = text[at_];
      if (in_string_) {
        if (c == '\\') {
          ++at_;
        } else if (c == '"') {
          in_string_ = false;
          if (depth_ == 0) return at_ + 1;
        }
      } else if (c == '"') {
        if (depth_ == 0 && at_ > 0) return at_;
        in_string_ = true;
      } else if (c == '{' || c == '[') {
        if (depth_ == 0 && at_ > 0) return at_;
        ++depth_;
      } else if (c == '}' || c == ']') {
        if (depth_ == 0) return std::max<size_t>(at_, 1);
        if (--depth_ == 0) return at_ + 1;
      } else if (depth_ == 0 && at_ > 0 && (c == ',' || kSpace.contains(c))) {
        return at_;
      }
    }
    return kNotYet;
  }

 private:
  size_t at_ = 0;
  int64_t depth_ = 0;
  bool in_string_ = false;
};

std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && kSpace.contains(text.back())) text.remove_suffix(1);
  return text;
}

Form FormOf(std::string_view seen) {
  const size_t begin = seen.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return Form::kLines;
  seen.remove_prefix(begin);
  if (seen.front() == '[') return Form::kArray;
  const size_t line_end = seen.find('\n');
  const std::string_view line = TrimRight(seen.substr(0, line_end));
  if (line.front() != '{') return Form::kLines;
  const size_t end = ValueEnd().Find(line);
  if (end != ValueEnd::kNotYet) return line.substr(end).contains('{') ? Form::kValues : Form::kLines;
  // A line that breaks where people break values: then values know their own end.
  const bool breaks = line_end != std::string_view::npos && std::string_view("{[,:").contains(line.back());
  return breaks ? Form::kValues : Form::kLines;
}

class JsonReader final : public record::FileReader {
 public:
  JsonReader(std::string location, std::unique_ptr<ByteStream> stream, size_t max_record_bytes)
      : stream_(std::move(stream)), max_record_bytes_(max_record_bytes), origin_{std::move(location), {}} {}

  /// Sees what form the file has and goes to `start`.
  Status Begin(const FilePosition& start) {
    while (!ended_ && buffer_.size() < kSeenBytes) FIRN_TRY(ReadMore());
    const std::string_view seen = text().substr(0, kSeenBytes);
    if (seen.starts_with("\xff\xfe") || seen.starts_with("\xfe\xff"))
      return Damaged("the file is UTF-16; JSON is UTF-8");
    form_ = FormOf(seen.starts_with("\xef\xbb\xbf") ? seen.substr(3) : seen);
    if (start.record == 0) {
      if (seen.starts_with("\xef\xbb\xbf")) Drop(3);
      return form_ == Form::kArray ? OpenArray() : Ok();
    }
    const auto held = static_cast<int64_t>(buffer_.size());
    if (start.byte <= held) {
      used_ = static_cast<size_t>(start.byte);
    } else {
      FIRN_TRY(stream_->Skip(start.byte - held));
      buffer_.clear();
    }
    in_array_ = form_ == Form::kArray;
    position_ = start;
    return Ok();
  }

  Result<bool> Read(size_t max_records, size_t max_bytes, RawBatch* batch) override {
    const size_t bytes_before = batch->arena.size();
    for (size_t i = 0; i < max_records && batch->arena.size() - bytes_before < max_bytes; ++i) {
      FIRN_ASSIGN(const bool any, form_ == Form::kLines ? NextLine(batch) : NextValue(batch));
      if (!any) return false;
    }
    return true;
  }

  FilePosition position() const override { return position_; }
  const record::FileOrigin& origin() const override { return origin_; }

 private:
  std::string_view text() const { return std::string_view(buffer_).substr(used_); }

  Error Damaged(std::string_view why) const {
    return Error(ErrorKind::kCorrupt, fmt::format("{}: line {} (byte {}): {}", origin_.location,
                                                  position_.line + 1, position_.byte, why))
        .WithRemedy("Write the file anew, or take it away.");
  }

  /// More bytes behind those that are held.
  Status ReadMore() {
    if (used_ > kReadBytes) {
      buffer_.erase(0, used_);
      used_ = 0;
    }
    const size_t held = buffer_.size();
    buffer_.resize(held + kReadBytes);
    auto read = stream_->Read(buffer_.data() + held, kReadBytes);
    buffer_.resize(held + (read.ok() ? *read : 0));
    if (!read.ok()) return std::move(read).error();
    ended_ = *read == 0;
    return Ok();
  }

  /// Passes over bytes that belong to no record, or to one that was handed out.
  void Drop(size_t bytes) {
    const std::string_view dropped = text().substr(0, bytes);
    position_.line += std::ranges::count(dropped, '\n');
    position_.byte += static_cast<int64_t>(bytes);
    used_ += bytes;
  }

  void HandOut(std::string_view value, RawBatch* batch) {
    batch->values.push_back({batch->arena.Append(value), static_cast<uint32_t>(value.size())});
    batch->lines.push_back(position_.line + 1);
    ++position_.record;
  }

  /// False at the end of the file.
  Result<bool> NextLine(RawBatch* batch) {
    for (;;) {
      FIRN_ASSIGN(const size_t length, LineLength());
      if (length == 0) return false;
      const std::string_view line = TrimRight(text().substr(0, length));
      const bool blank = line.find_first_not_of(kSpace) == std::string_view::npos;
      if (!blank) HandOut(line, batch);
      Drop(length);
      if (!blank) return true;
    }
  }

  /// Of the next line with its line break; 0 at the end. What is beyond the limit is dropped.
  Result<size_t> LineLength() {
    size_t looked = 0;
    for (;;) {
      const std::string_view held = text();
      const size_t end = held.find('\n', looked);
      if (end != std::string_view::npos && end <= max_record_bytes_) return end + 1;
      if (held.size() > max_record_bytes_) return CutTooLong();
      if (ended_) return held.size();
      looked = held.size();
      FIRN_TRY(ReadMore());
    }
  }

  /// A line that is too long: its beginning stands for it, the rest up to the line break is passed over.
  Result<size_t> CutTooLong() {
    std::string kept(text().substr(0, std::min(kShownOfTooLong, max_record_bytes_)));
    const int64_t line = position_.line;
    for (;;) {
      const size_t end = text().find('\n');
      Drop(end == std::string_view::npos ? text().size() : end);
      if (end != std::string_view::npos || ended_) break;
      FIRN_TRY(ReadMore());
    }
    // The kept bytes take the place of the last dropped ones, so that positions stay those of the file.
    buffer_.erase(0, used_);
    used_ = 0;
    const auto size = static_cast<int64_t>(kept.size());
    const size_t length = kept.size() + (buffer_.starts_with('\n') ? 1 : 0);
    buffer_.insert(0, kept);
    position_.byte -= size;
    position_.line = line;
    return length;
  }

  Status OpenArray() {
    Drop(text().find('['));
    Drop(1);
    in_array_ = true;
    before_first_ = true;
    return Ok();
  }

  /// False at the end of the file.
  Result<bool> NextValue(RawBatch* batch) {
    FIRN_ASSIGN(bool any, SkipSpace());
    if (in_array_) {
      if (!any) return Damaged("the array is not closed; is the file complete?");
      FIRN_ASSIGN(any, NextElement());
    }
    if (!any) return false;
    FIRN_ASSIGN(const size_t length, ValueLength());
    const std::string_view value = text().substr(0, length);
    HandOut(value, batch);
    Drop(length);
    before_first_ = false;
    return true;
  }

  /// Up to the next element of the array; false behind its end.
  Result<bool> NextElement() {
    if (text().front() == ']') {
      Drop(1);
      FIRN_ASSIGN(const bool more, SkipSpace());
      if (more) return Damaged("there is more behind the end of the array");
      in_array_ = false;
      return false;
    }
    if (!before_first_) {
      if (text().front() != ',') return Damaged("expected , or ] in the array");
      Drop(1);
      FIRN_ASSIGN(const bool more, SkipSpace());
      if (!more) return Damaged("the array is not closed; is the file complete?");
    }
    if (text().front() == ',' || text().front() == ']') return Damaged("a value is missing in the array");
    return true;
  }

  /// False at the end of the file.
  Result<bool> SkipSpace() {
    for (;;) {
      const size_t begin = text().find_first_not_of(kSpace);
      if (begin != std::string_view::npos) {
        Drop(begin);
        return true;
      }
      Drop(text().size());
      if (ended_) return false;
      FIRN_TRY(ReadMore());
    }
  }

  Result<size_t> ValueLength() {
    ValueEnd end;
    for (;;) {
      const size_t found = end.Find(text());
      if (found != ValueEnd::kNotYet && found <= max_record_bytes_) return found;
      if (text().size() > max_record_bytes_)
        return Damaged(fmt::format("the value that begins here is longer than {} bytes", max_record_bytes_));
      if (ended_) return TrimRight(text()).size();
      FIRN_TRY(ReadMore());
    }
  }

  const std::unique_ptr<ByteStream> stream_;
  const size_t max_record_bytes_;
  const record::FileOrigin origin_;
  Form form_ = Form::kLines;
  bool in_array_ = false;
  bool before_first_ = false;  ///< element of the array
  std::string buffer_;
  size_t used_ = 0;  ///< bytes of the buffer that are done with
  bool ended_ = false;
  FilePosition position_;
};

class JsonFiles final : public record::FileFormat {
 public:
  explicit JsonFiles(size_t max_record_bytes) : max_record_bytes_(max_record_bytes) {}

  bool random_access() const override { return false; }
  Result<std::unique_ptr<record::FileReader>> Open(std::string location,
                                                   std::shared_ptr<store::RandomAccessObject> /*object*/,
                                                   std::unique_ptr<ByteStream> stream,
                                                   const FilePosition& start) override {
    auto reader = std::make_unique<JsonReader>(std::move(location), std::move(stream), max_record_bytes_);
    FIRN_TRY(reader->Begin(start));
    return std::unique_ptr<record::FileReader>(std::move(reader));
  }

 private:
  const size_t max_record_bytes_;
};

}  // namespace

std::shared_ptr<record::FileFormat> MakeJsonFiles(size_t max_record_bytes) {
  return std::make_shared<JsonFiles>(max_record_bytes);
}

}  // namespace firn::decode
