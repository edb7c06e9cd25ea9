#pragma once

#include <string_view>

#include "firn/base/result.h"
#include "firn/http/client/http_client.h"

namespace firn::store::s3 {

struct ErrorContext {
  std::string_view action;    ///< "write", "read", "list" ...
  std::string_view location;  ///< s3://bucket/key
  std::string_view region;    ///< the one that signed
  int64_t now_ms = 0;
};

/// What an answer that is no success means: kind, whether to try again, S3's code (as service_type), status,
/// request id, and what can be done. A failed condition (412) is kConflict without a retry.
Error ErrorOfAnswer(const ErrorContext& context, const http::HttpResponse& answer);

/// S3's code: the keys have ended or are not known (any more), so that fresh ones may help.
bool SaysStaleKeys(const Error& error);

}  // namespace firn::store::s3
