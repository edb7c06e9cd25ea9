#pragma once

#include <string>
#include <string_view>

#include "firn/base/result.h"

namespace firn::iceberg {

bool IsGzip(std::string_view bytes);
std::string GzipCompress(std::string_view bytes);
/// All members of the stream. kCorrupt for bad data and for an output larger than `max_bytes`.
Result<std::string> GzipDecompress(std::string_view bytes, size_t max_bytes);

}  // namespace firn::iceberg
