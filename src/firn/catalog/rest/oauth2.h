#pragma once

#include <memory>

#include "firn/catalog/rest/auth.h"

namespace firn::catalog::rest {

/// Bearer tokens: `token` as it is, and those that `credential` buys at `oauth2-server-uri` by the client
/// credentials grant. A bought one is replaced before it ends (a tenth of its life, at most five minutes,
/// before) and when the server refuses it; while its server is down the old one is used to its end.
Result<std::unique_ptr<Auth>> MakeOAuth2(const RestSettings& settings, const AuthDeps& deps);

}  // namespace firn::catalog::rest
