#pragma once

#include <memory>

#include "firn/catalog/rest/auth.h"

namespace firn::catalog::rest {

/// AWS Signature Version 4 over the whole request (`rest.sigv4-enabled`): `rest.signing-name`,
/// `rest.signing-region`, the keys of `rest.access-key-id` ... or of the AWS default chain. kInvalidArgument
/// without a region.
Result<std::unique_ptr<Auth>> MakeSigV4Auth(const RestSettings& settings, const AuthDeps& deps);

}  // namespace firn::catalog::rest
