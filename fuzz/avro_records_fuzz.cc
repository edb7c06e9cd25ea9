// Avro data against a walk over the tree of its schema: both find the same data well-formed, and the rows
// hold the same values.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "firn/decode/avro/tree_oracle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string difference =
      firn::decode::DifferenceFromTree({reinterpret_cast<const char*>(data), size});
  if (!difference.empty()) {
    std::fprintf(stderr, "%s\n", difference.c_str());
    std::abort();
  }
  return 0;
}
