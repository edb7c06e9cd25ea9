#pragma once

#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/http/client/http_client.h"
#include "firn/iceberg/catalog.h"

namespace firn::catalog::rest {

/// Body of `POST .../tables/{table}`.
Result<std::string> CommitBody(const iceberg::TableCommit& commit);

/// What the one try of a commit came to. Strict, since files are deleted by it:
///
///   200 whose table holds what the commit brought      done
///   409                                                conflict; it may be the echo of a request that
///                                                      something between us and the server sent twice
///   429, 401 and 403, 3xx, other 4xx                   rejected: not applied. With a retry hint where it may
///                                                      pass. In words that are not the catalog's: perhaps
///                                                      said after the catalog had carried it out
///   not sent (no connection, no token)                 rejected, with a retry hint where it may pass
///   408, 5xx but 501 and 505, no answer, 2xx that says something else, a status that is none: unknown
iceberg::CatalogCommitResult CommitResultOf(const iceberg::TableCommit& commit,
                                            Result<http::HttpResponse> outcome, std::string_view request);

}  // namespace firn::catalog::rest
