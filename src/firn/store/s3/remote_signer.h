#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "firn/http/client/http_client.h"
#include "firn/runtime/clock.h"
#include "firn/store/s3/signer.h"

namespace firn::store::s3 {

struct RemoteSignerOptions {
  std::string url;     ///< of the catalog's sign endpoint
  std::string region;  ///< asked to sign for
  /// What authenticates us at the catalog.
  std::function<Result<std::map<std::string, std::string>>()> headers;
};

/// Has a catalog sign each request (Iceberg's S3 remote signing, `POST .../sign`): we never see a key. An
/// answer with `Cache-Control: private` to a request that reads is used again for 30 s.
std::unique_ptr<RequestSigner> MakeRemoteSigner(RemoteSignerOptions options,
                                                std::shared_ptr<http::HttpClient> http,
                                                runtime::Clock& clock);

}  // namespace firn::store::s3
