#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "firn/decode/csv/csv_format.h"
#include "firn/decode/decode_test_support.h"
#include "firn/record/text_stream.h"

namespace firn::decode::testing {

constexpr size_t kPiece = 7;  ///< bytes that a file gives at a time

struct ReadFile {
  record::RawBatch raw;
  std::vector<record::FilePosition> positions;  ///< behind each record
};

/// All records of a file from `start` on, one Read each; as many offsets and times as records.
inline ReadFile ReadAll(const CsvDialect& dialect, const std::string& bytes,
                        const record::FilePosition& start = {}) {
  ReadFile file;
  auto reader = MakeCsvFormat(dialect)->Open("x.csv", nullptr,
                                             std::make_unique<record::TextStream>(bytes, kPiece), start);
  if (!reader.ok()) {
    ADD_FAILURE() << reader.error().ToString();
    return file;
  }
  for (;;) {
    const auto more = (*reader)->Read(1, 1 << 20, &file.raw);
    if (!more.ok()) ADD_FAILURE() << more.error().ToString();
    if (!more.ok() || !*more) break;
    file.positions.push_back((*reader)->position());
  }
  file.raw.partition = {"files", 0};
  file.raw.file = std::make_shared<record::FileOrigin>((*reader)->origin());
  for (size_t i = 0; i < file.raw.values.size(); ++i) {
    file.raw.offsets.push_back(static_cast<int64_t>(i));
    file.raw.timestamps_ms.push_back(0);
    file.raw.keys.emplace_back();
  }
  return file;
}

inline std::vector<std::string> Values(const record::RawBatch& raw) {
  std::vector<std::string> values;
  for (size_t i = 0; i < raw.values.size(); ++i) values.emplace_back(raw.value(i));
  return values;
}

}  // namespace firn::decode::testing
