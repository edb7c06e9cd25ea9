#include "firn/decode/csv/csv_format.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "firn/decode/csv/encoding.h"
#include "firn/decode/csv/record_splitter.h"

namespace firn::decode {

namespace {

class CsvFileReader : public record::FileReader {
 public:
  CsvFileReader(const CsvDialect& dialect, std::string location, std::unique_ptr<record::ByteStream> stream)
      : dialect_(dialect), splitter_(dialect_, std::move(stream)) {
    origin_.location = std::move(location);
  }

  Status Begin(const record::FilePosition& start) {
    FIRN_TRY(splitter_.SkipByteOrderMark());
    if (dialect_.has_header(/*in_file=*/true)) FIRN_TRY(TakeHeader());
    if (start.byte > 0) {
      FIRN_TRY(splitter_.SkipTo(start.byte, start.line));
      records_ = start.record;
      return Ok();
    }
    std::string_view text;
    while (records_ < start.record) {
      FIRN_ASSIGN(const bool found, splitter_.Next(&text));
      if (!found) return Ok();
      ++records_;
    }
    return Ok();
  }

  Result<bool> Read(size_t max_records, size_t max_bytes, record::RawBatch* batch) override {
    size_t bytes = 0;
    for (size_t i = 0; i < max_records && bytes < max_bytes; ++i) {
      std::string_view text;
      FIRN_ASSIGN(const bool found, splitter_.Next(&text));
      if (!found) return false;
      batch->values.push_back({batch->arena.Append(text), static_cast<uint32_t>(text.size())});
      batch->lines.push_back(splitter_.record_line() + 1);
      bytes += text.size();
      ++records_;
    }
    return true;
  }

  record::FilePosition position() const override { return {records_, splitter_.byte(), splitter_.line()}; }
  const record::FileOrigin& origin() const override { return origin_; }

 private:
  Status TakeHeader() {
    std::string_view text;
    FIRN_ASSIGN(const bool found, splitter_.Next(&text));
    if (!found || ToUtf8(text, dialect_.encoding, &origin_.schema)) return Ok();
    return Error(ErrorKind::kCorrupt,
                 fmt::format("the header record is not valid {}", ToString(dialect_.encoding)))
        .WithRemedy("Set `encoding:` to what the file is written in.");
  }

  const CsvDialect dialect_;
  RecordSplitter splitter_;
  record::FileOrigin origin_;
  int64_t records_ = 0;
};

class CsvFormat : public record::FileFormat {
 public:
  explicit CsvFormat(const CsvDialect& dialect) : dialect_(dialect) {}

  bool random_access() const override { return false; }

  Result<std::unique_ptr<record::FileReader>> Open(std::string location,
                                                   std::shared_ptr<store::RandomAccessObject> /*object*/,
                                                   std::unique_ptr<record::ByteStream> stream,
                                                   const record::FilePosition& start) override {
    const std::string context = "file " + location;
    auto reader = std::make_unique<CsvFileReader>(dialect_, std::move(location), std::move(stream));
    FIRN_TRY_CTX(reader->Begin(start), context);
    return std::unique_ptr<record::FileReader>(std::move(reader));
  }

 private:
  const CsvDialect dialect_;
};

}  // namespace

std::shared_ptr<record::FileFormat> MakeCsvFormat(const CsvDialect& dialect) {
  return std::make_shared<CsvFormat>(dialect);
}

}  // namespace firn::decode
