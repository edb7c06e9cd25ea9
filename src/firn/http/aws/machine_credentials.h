#pragma once

#include <optional>

#include "firn/base/result.h"
#include "firn/http/aws/credentials.h"
#include "firn/http/aws/environment.h"

namespace firn::http::aws {

/// Keys of a container (ECS, EKS Pod Identity), where `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or `_FULL_URI`
/// is set; empty where neither is. Plain HTTP is only spoken to this machine and the known metadata
/// addresses.
Result<std::optional<AwsCredentials>> ContainerCredentials(const AwsDeps& deps);

/// Keys of an EC2 instance's role (IMDSv2). kNotFound where there is no such service, or no role.
Result<AwsCredentials> InstanceCredentials(const AwsDeps& deps);

}  // namespace firn::http::aws
