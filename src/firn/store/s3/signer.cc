#include "firn/store/s3/signer.h"

#include <utility>

#include "firn/http/sigv4/sigv4.h"

namespace firn::store::s3 {

namespace {

namespace sigv4 = http::sigv4;

class SigV4Signer final : public RequestSigner {
 public:
  SigV4Signer(std::shared_ptr<http::aws::CredentialsProvider> credentials, std::string region,
              runtime::Clock& clock)
      : credentials_(std::move(credentials)), scope_{std::move(region), "s3"}, clock_(clock) {}

  Result<Signed> Sign(const Unsigned& request) override {
    FIRN_ASSIGN(const http::aws::AwsCredentials credentials, credentials_->Get());
    sigv4::Request signable{request.method, request.target, request.headers, PayloadHash(request)};
    signable.headers.emplace_back("host", request.host);
    Signed out{request.scheme + "://" + request.host + request.target, request.headers,
               credentials.keys.access_key_id};
    for (auto& header : sigv4::Sign(signable, credentials.keys, scope_, clock_.NowMs(), {}))
      out.headers.push_back(std::move(header));
    return out;
  }

  bool Reject(const std::string& access_key_id) override { return credentials_->Reject(access_key_id); }

 private:
  /// Under TLS the bytes are protected already, and hashing costs as much as sending.
  static std::string PayloadHash(const Unsigned& request) {
    if (request.scheme == "https" && !request.body.empty()) return std::string(sigv4::kUnsignedPayload);
    return http::Sha256Hex(request.body);
  }

  const std::shared_ptr<http::aws::CredentialsProvider> credentials_;
  const sigv4::Scope scope_;
  runtime::Clock& clock_;
};

}  // namespace

std::unique_ptr<RequestSigner> MakeSigV4Signer(std::shared_ptr<http::aws::CredentialsProvider> credentials,
                                               std::string region, runtime::Clock& clock) {
  return std::make_unique<SigV4Signer>(std::move(credentials), std::move(region), clock);
}

}  // namespace firn::store::s3
