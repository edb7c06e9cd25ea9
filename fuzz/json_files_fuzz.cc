// Files of JSON: whatever is in them, reading in one go, in small pieces, and from behind any record gives
// the same records at the same lines.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/decode/json/json_files.h"
#include "firn/record/text_stream.h"

namespace {

using firn::record::FilePosition;
using firn::record::TextStream;

struct Split {
  std::vector<std::pair<std::string, int64_t>> records;
  std::vector<FilePosition> behind;
  bool ended_well = false;
};

Split Read(std::string_view text, size_t piece, const FilePosition& start) {
  constexpr size_t kMaxRecordBytes = 4096;
  Split split;
  auto reader = firn::decode::MakeJsonFiles(kMaxRecordBytes)
                    ->Open("f", nullptr, std::make_unique<TextStream>(std::string(text), piece), start);
  if (!reader.ok()) return split;
  for (;;) {
    firn::record::RawBatch batch;
    auto more = (*reader)->Read(1, SIZE_MAX, &batch);
    for (size_t i = 0; i < batch.values.size(); ++i) {
      split.records.emplace_back(batch.value(i), batch.lines[i]);
      split.behind.push_back((*reader)->position());
    }
    if (more.ok() && *more) continue;
    split.ended_well = more.ok();
    return split;
  }
}

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Split whole = Read(text, SIZE_MAX, {});
  const Split pieces = Read(text, 3, {});
  Require(whole.records == pieces.records && whole.ended_well == pieces.ended_well,
          "pieces make a difference");
  if (whole.records.empty()) return 0;
  const size_t at = size % whole.records.size();
  const Split rest = Read(text, 100, whole.behind[at]);
  Require(std::equal(rest.records.begin(), rest.records.end(),
                     whole.records.begin() + static_cast<std::ptrdiff_t>(at) + 1, whole.records.end()),
          "the rest is another one");
  Require(rest.ended_well == whole.ended_well, "the end is another one");
  return 0;
}
