// CSV files of any bytes in any dialect: each record ends as a row or a dead letter, how the bytes come in
// portions does not matter, and reading goes on at any record as if it had never stopped.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/decode/csv/csv_decoder.h"
#include "firn/decode/csv/csv_format.h"
#include "firn/record/text_stream.h"

namespace {

using firn::decode::CsvDialect;
using firn::decode::CsvEncoding;
using firn::record::FilePosition;
using firn::record::RawBatch;
using firn::record::TextStream;

void Require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

CsvDialect DialectOf(uint8_t choice) {
  CsvDialect dialect;
  dialect.max_record_bytes = 64;
  if ((choice & 1) != 0) dialect.backslash_escapes = true;
  if ((choice & 2) != 0) dialect.header = false;
  if ((choice & 4) != 0) dialect.trim = true;
  if ((choice & 8) != 0) dialect.comment = '#';
  if ((choice & 16) != 0) dialect.quote.reset();
  dialect.encoding = static_cast<CsvEncoding>((choice >> 5) % 5);
  return dialect;
}

struct File {
  bool opened = false;
  RawBatch raw;
  std::vector<std::string> values;
  std::vector<FilePosition> positions;
};

File ReadAll(const CsvDialect& dialect, std::string_view bytes, size_t step, const FilePosition& start) {
  File file;
  auto reader = firn::decode::MakeCsvFormat(dialect)->Open(
      "f", nullptr, std::make_unique<TextStream>(std::string(bytes), step), start);
  file.opened = reader.ok();
  if (!file.opened) return file;
  for (;;) {
    const auto more = (*reader)->Read(1, 1 << 20, &file.raw);
    Require(more.ok(), "a stream without errors is read without errors");
    if (!*more) break;
    file.positions.push_back((*reader)->position());
  }
  file.raw.file = std::make_shared<firn::record::FileOrigin>((*reader)->origin());
  for (size_t i = 0; i < file.raw.values.size(); ++i) {
    file.values.emplace_back(file.raw.value(i));
    file.raw.offsets.push_back(static_cast<int64_t>(i));
    file.raw.timestamps_ms.push_back(0);
    file.raw.keys.emplace_back();
  }
  return file;
}

firn::decode::BoundSchema Bound() {
  using firn::iceberg::NestedField;
  using firn::iceberg::Type;
  using firn::iceberg::TypeId;
  std::vector<NestedField> fields;
  for (const auto& [name, type] : {std::pair("a", TypeId::kString), std::pair("b", TypeId::kLong),
                                   std::pair("c", TypeId::kTimestamp), std::pair("d", TypeId::kDouble)}) {
    NestedField field;
    field.id = static_cast<int32_t>(fields.size()) + 1;
    field.name = name;
    field.type = Type::Primitive(type);
    fields.push_back(std::move(field));
  }
  firn::decode::BoundSchema bound;
  bound.schema = std::make_shared<const firn::iceberg::Schema>(0, std::move(fields));
  return bound;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const CsvDialect dialect = DialectOf(data[0]);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const File whole = ReadAll(dialect, bytes, SIZE_MAX, {});
  const File portions = ReadAll(dialect, bytes, 1, {});
  Require(whole.opened == portions.opened && whole.values == portions.values, "portions do not matter");
  if (!whole.opened) return 0;
  if (!whole.positions.empty()) {
    const size_t middle = whole.positions.size() / 2;
    const File rest = ReadAll(dialect, bytes, 3, whole.positions[middle]);
    Require(rest.opened && std::equal(whole.values.begin() + static_cast<std::ptrdiff_t>(middle) + 1,
                                      whole.values.end(), rest.values.begin(), rest.values.end()),
            "reading goes on where it stopped");
  }
  auto decoder = firn::decode::MakeCsvDecoder(dialect, Bound());
  Require(decoder.ok(), "the decoder is made");
  const auto result = (*decoder)->Decode(whole.raw, 0);
  Require(result.ok() && result->consumed == whole.values.size(), "all records are taken");
  Require(result->batch.records.size() + result->dead_letters.size() == whole.values.size(),
          "each record is a row or a dead letter");
  return 0;
}
