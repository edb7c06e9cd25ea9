#pragma once

#include <string>

#include "firn/base/result.h"
#include "firn/http/aws/credentials.h"
#include "firn/http/aws/environment.h"

namespace firn::http::aws {

/// A role to be assumed.
struct RoleRequest {
  std::string role_arn;
  std::string session_name;  ///< empty: "firn"
  std::string external_id;   ///< empty: none
  int64_t duration_s = 0;    ///< 0: the role's default (an hour)
  std::string region;
  std::string endpoint;  ///< empty: AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL, or AWS's of the region
};

/// STS AssumeRole, signed with `keys`.
Result<AwsCredentials> AssumeRole(const AwsDeps& deps, const RoleRequest& role,
                                  const sigv4::Credentials& keys);

/// STS AssumeRoleWithWebIdentity: the token, read anew from its file, is what authenticates.
Result<AwsCredentials> AssumeRoleWithWebIdentity(const AwsDeps& deps, const RoleRequest& role,
                                                 const std::string& token_file);

}  // namespace firn::http::aws
