// Avro container files as sources read them: records, then an end or an error that names the file, and the
// same records when reading is broken off after each batch.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "firn/decode/avro/container_format.h"
#include "firn/store/bytes_object.h"

namespace {

using namespace firn;  // NOLINT(google-build-using-namespace)

constexpr size_t kMaxRecords = 5000;

/// All records, one after the other with their lengths; `step` at a time.
std::string ReadAll(std::string_view bytes, size_t step, bool reopen, bool* good) {
  const auto format = decode::MakeAvroContainerFormat();
  const auto object = std::make_shared<store::BytesObject>(std::string(bytes));
  std::string all;
  record::FilePosition at;
  *good = true;
  auto reader = format->Open("file:///f", object, nullptr, at);
  size_t taken = 0;
  while (taken < kMaxRecords) {
    if (!reader.ok()) {
      if (reader.error().ToString().find("file:///f") == std::string::npos) std::abort();
      *good = false;
      return all;
    }
    record::RawBatch batch;
    const auto more = (*reader)->Read(step, size_t{1} << 20, &batch);
    if (!more.ok()) {
      *good = false;
      return all;
    }
    for (size_t i = 0; i < batch.values.size(); ++i) {
      all += std::to_string(batch.values[i].length) + ":";
      all += batch.value(i);
    }
    taken += batch.values.size();
    if (batch.values.size() != batch.lines.size() || batch.values.size() > step) std::abort();
    if (!*more) break;
    if (batch.values.empty()) std::abort();  // would never end
    at = (*reader)->position();
    if (reopen) reader = format->Open("file:///f", object, nullptr, at);
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  bool good = false;
  bool good_again = false;
  const std::string whole = ReadAll(bytes, kMaxRecords, false, &good);
  const std::string steps = ReadAll(bytes, 50, true, &good_again);
  if (good && (!good_again || steps.substr(0, whole.size()) != whole.substr(0, steps.size()))) std::abort();
  return 0;
}
