#pragma once

#include <memory>
#include <string>

#include "firn/base/result.h"
#include "firn/http/aws/credentials.h"
#include "firn/http/client/http_client.h"
#include "firn/runtime/clock.h"

namespace firn::store::s3 {

/// A request as it goes out, before it is signed.
struct Unsigned {
  std::string method;
  std::string scheme;
  std::string host;
  std::string target;  ///< path and query, percent-encoded
  http::HttpHeaders headers;
  std::string_view body;
};

struct Signed {
  std::string url;
  http::HttpHeaders headers;
  std::string access_key_id;  ///< whose keys signed; empty: somebody else's
};

/// Authenticates requests. Thread-safe.
class RequestSigner {
 public:
  virtual ~RequestSigner() = default;
  virtual Result<Signed> Sign(const Unsigned& request) = 0;
  /// S3 said that the keys have ended or are unknown: true where signing again makes sense.
  virtual bool Reject(const std::string& access_key_id) = 0;
};

std::unique_ptr<RequestSigner> MakeSigV4Signer(std::shared_ptr<http::aws::CredentialsProvider> credentials,
                                               std::string region, runtime::Clock& clock);

}  // namespace firn::store::s3
