#pragma once

#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/http/aws/credentials.h"

namespace firn::http::aws {

/// The JSON object with which `credential_process`, containers and instances give keys: AccessKeyId,
/// SecretAccessKey, SessionToken or Token, Expiration. Nothing of it is in an error text.
Result<AwsCredentials> ParseKeyDocument(std::string_view json, std::string source);

/// `2026-01-31T12:00:00Z`; kCorrupt for anything else.
Result<int64_t> ParseExpiration(std::string_view text);

}  // namespace firn::http::aws
