// JSON records against simdjson's DOM parser: the decoder calls a record malformed exactly when DOM rejects
// it, and whatever it says, the rows beside it stay what they were.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "firn/decode/json/dom_oracle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string difference = firn::decode::DifferenceFromDom({reinterpret_cast<const char*>(data), size});
  if (!difference.empty()) {
    std::fprintf(stderr, "%s\n", difference.c_str());
    std::abort();
  }
  return 0;
}
