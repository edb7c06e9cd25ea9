#pragma once

#include <string_view>

#include "firn/base/result.h"
#include "firn/http/client/http_client.h"

namespace firn::catalog::rest {

/// What an answer that is no success means, as an error with the request, the server's words and a remedy.
/// Its kind decides what callers do: kNotFound only where the catalog itself says so, kUnavailable (with a
/// retry hint) where the server, or something before it, is not well. `request` names it: `GET
/// https://host/v1/config`.
Error ErrorOfAnswer(const http::HttpResponse& response, std::string_view request);
/// A success whose body is not what the specification says. Retriable: a proxy's page is gone some time
/// later.
Error ErrorOfBody(const http::HttpResponse& response, std::string_view request, const Error& parse_error);

/// Token ended or not accepted.
bool IsUnauthorized(int status);
/// Seconds of `Retry-After` as milliseconds, an HTTP date relative to `now_ms`; 0 when there is none. At most
/// five minutes.
int64_t RetryAfterMs(const http::HttpResponse& response, int64_t now_ms);

}  // namespace firn::catalog::rest
