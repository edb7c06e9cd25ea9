#include "firn/record/file_format.h"

#include <algorithm>
#include <array>

namespace firn::record {

Status ByteStream::Skip(int64_t bytes) {
  std::array<char, 64 << 10>
      passed;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  while (bytes > 0) {
    const auto length = static_cast<size_t>(std::min(bytes, static_cast<int64_t>(passed.size())));
    FIRN_ASSIGN(const size_t read, Read(passed.data(), length));
    if (read == 0) return Ok();
    bytes -= static_cast<int64_t>(read);
  }
  return Ok();
}

}  // namespace firn::record
