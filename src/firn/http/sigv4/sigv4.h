#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/http/sigv4/digest.h"

/// AWS Signature Version 4 ("AWS4-HMAC-SHA256"): texts in, texts out, no clock and no I/O. The building
/// blocks are public so that a server can compute what a client should have signed.
/// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
namespace firn::http::sigv4 {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// How the path of a request becomes the canonical one.
enum class PathRule : uint8_t {
  kS3,            ///< encoded once, nothing normalised: S3 and what is like it
  kNormalize,     ///< `.`, `..` and doubled slashes resolved, each segment encoded again: all other services
  kEncodeAsItIs,  ///< like kNormalize without resolving anything
};

struct Credentials {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;  ///< empty: none
};

struct Scope {
  std::string region;
  std::string service;  ///< "s3", "sts", "execute-api", "glue", "s3tables" ...
};

/// `x-amz-content-sha256` of a body that the signature does not cover.
inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";

/// What is signed. Everything in `headers` is: leave out what a proxy may change.
struct Request {
  std::string method = "GET";
  std::string target = "/";  ///< path and query as they are sent, percent-encoded: `/a%20b?list-type=2`
  Headers headers = {};      ///< with `host`
  std::string payload_hash;  ///< Sha256Hex of the body, or kUnsignedPayload
};

struct Options {
  PathRule path_rule = PathRule::kS3;
  bool content_sha256_header = true;  ///< sends (and signs) `x-amz-content-sha256`; S3 wants it
};

/// The headers to add to the request: `x-amz-date`, `x-amz-content-sha256` and `x-amz-security-token` where
/// they apply, `authorization`. Names in lower case.
Headers Sign(const Request& request, const Credentials& credentials, const Scope& scope, int64_t now_ms,
             const Options& options);

/// The target with the signature in its query, good for `expires_s` seconds (S3 takes at most 604,800).
/// S3 wants kUnsignedPayload as `payload_hash`.
std::string Presign(const Request& request, const Credentials& credentials, const Scope& scope,
                    int64_t now_ms, int64_t expires_s, const Options& options);

// --- building blocks

/// `20150830T123600Z`.
std::string AmzDate(int64_t now_ms);
/// Names in lower case, sorted, joined by semicolons.
std::string SignedHeaders(const Headers& headers);
std::string CanonicalPath(std::string_view path, PathRule rule);
/// `name=value` pairs decoded, encoded again and sorted.
std::string CanonicalQuery(std::string_view query);
/// Over all of the request's headers.
std::string CanonicalRequest(const Request& request, PathRule rule);
/// `date/region/service/aws4_request`; the date is the first eight digits of `amz_date`.
std::string CredentialScope(std::string_view amz_date, const Scope& scope);
/// Hexadecimal signature of a canonical request.
std::string Signature(std::string_view canonical_request, std::string_view secret_access_key,
                      std::string_view amz_date, const Scope& scope);

}  // namespace firn::http::sigv4
