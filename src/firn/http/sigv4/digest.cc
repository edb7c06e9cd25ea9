#include "firn/http/sigv4/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "firn/base/bytes.h"
#include "firn/base/check.h"

namespace firn::http {

namespace {

/// Empty when OpenSSL does not offer the algorithm.
std::string Digest(std::string_view bytes, const EVP_MD* algorithm) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), out, &length, algorithm, nullptr) != 1) return {};
  return {reinterpret_cast<const char*>(out), length};
}

}  // namespace

std::string Sha256(std::string_view bytes) {
  std::string out = Digest(bytes, EVP_sha256());
  FIRN_CHECK(out.size() == 32, "OpenSSL has SHA-256");
  return out;
}

std::string Sha256Hex(std::string_view bytes) { return HexEncode(Sha256(bytes)); }

std::string HmacSha256(std::string_view key, std::string_view bytes) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto* done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data, bytes.size(), out, &length);
  FIRN_CHECK(done != nullptr && length == 32, "OpenSSL has HMAC with SHA-256");
  return {reinterpret_cast<const char*>(out), length};
}

std::string Md5(std::string_view bytes) { return Digest(bytes, EVP_md5()); }

}  // namespace firn::http
