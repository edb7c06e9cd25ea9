#pragma once

#include <memory>
#include <string>

#include "firn/base/result.h"
#include "firn/http/aws/credentials.h"
#include "firn/http/aws/environment.h"
#include "firn/http/aws/sts.h"

namespace firn::http::aws {

/// The keys that AWS's own SDKs would find, in their order: environment, web identity, profile (with
/// credential_process, roles and their source profiles), container, instance. The first source that is there
/// is taken; when it fails that is the error, no other is tried. `profile`: the one and only source to look
/// at; empty: AWS_PROFILE or `default` in its place of the order.
Result<AwsCredentials> FindCredentials(const AwsDeps& deps, const std::string& profile);

/// FindCredentials, kept and renewed.
std::shared_ptr<CredentialsProvider> DefaultCredentials(AwsDeps deps, std::string profile = {});

/// A role, assumed with the keys of `base`, kept and renewed.
std::shared_ptr<CredentialsProvider> RoleCredentials(AwsDeps deps, RoleRequest role,
                                                     std::shared_ptr<CredentialsProvider> base);

/// AWS_REGION, AWS_DEFAULT_REGION, the profile's `region`, or us-east-1.
std::string DefaultRegion(const AwsDeps& deps, const std::string& profile = {});

}  // namespace firn::http::aws
