#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/decode/decode_test_support.h"
#include "firn/decode/parquet/parquet_format.h"
#include "firn/store/bytes_object.h"

namespace firn::decode::testing {

inline Result<std::unique_ptr<record::FileReader>> OpenParquet(const std::string& bytes, int64_t start = 0) {
  return MakeParquetFormat()->Open("memory://b/f.parquet", std::make_shared<store::BytesObject>(bytes),
                                   nullptr, {.record = start});
}

/// All rows from `start` on, as batches of at most `most` records.
inline std::vector<record::RawBatch> ReadParquet(const std::string& bytes, int64_t start = 0,
                                                 size_t most = 1000) {
  std::vector<record::RawBatch> batches;
  auto reader = OpenParquet(bytes, start);
  if (!reader.ok()) {
    ADD_FAILURE() << reader.error().ToString();
    return batches;
  }
  for (;;) {
    record::RawBatch raw;
    const auto more = (*reader)->Read(most, 1 << 20, &raw);
    if (!more.ok()) ADD_FAILURE() << more.error().ToString();
    if (!more.ok() || !*more) return batches;
    raw.partition = {"files", 0};
    raw.file = std::make_shared<record::FileOrigin>((*reader)->origin());
    for (size_t i = 0; i < raw.values.size(); ++i) {
      raw.offsets.push_back(static_cast<int64_t>(i));
      raw.timestamps_ms.push_back(0);
      raw.keys.emplace_back();
    }
    batches.push_back(std::move(raw));
  }
}

}  // namespace firn::decode::testing
