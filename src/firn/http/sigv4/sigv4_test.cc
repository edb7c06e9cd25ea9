#include "firn/http/sigv4/sigv4.h"

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "firn/base/bytes.h"

namespace firn::http::sigv4 {
namespace {

constexpr int64_t kSuiteNowMs = 1'440'938'160'000;     // 2015-08-30T12:36:00Z
constexpr int64_t kExamplesNowMs = 1'369'353'600'000;  // 2013-05-24T00:00:00Z
const Scope kSuiteScope = {"us-east-1", "service"};
const Scope kS3Scope = {"us-east-1", "s3"};
const Credentials kExampleKeys = {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};

struct Vector {
  std::string name;
  Request request;
  Credentials credentials;
  Options options;
  nlohmann::json expected;
};

/// AWS's signing test suite, v4, one object a case.
std::vector<Vector> SuiteVectors() {
  std::ifstream file(FIRN_SOURCE_DIR "/src/firn/http/sigv4/testdata/aws_vectors.json");
  const nlohmann::json all = nlohmann::json::parse(file);
  std::vector<Vector> vectors;
  for (const auto& one : all) {
    Vector v;
    v.name = one.at("name");
    v.request.method = one.at("method");
    v.request.target = one.at("target");
    for (const auto& header : one.at("headers")) v.request.headers.emplace_back(header.at(0), header.at(1));
    v.request.payload_hash = Sha256Hex(one.at("body").get<std::string>());
    v.credentials = {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", one.at("session_token")};
    if (!one.at("sign_token").get<bool>()) v.credentials.session_token.clear();
    v.options.path_rule = one.at("normalize").get<bool>() ? PathRule::kNormalize : PathRule::kEncodeAsItIs;
    v.options.content_sha256_header = one.at("content_sha256_header");
    v.expected = one;
    vectors.push_back(std::move(v));
  }
  return vectors;
}

std::string SignatureOf(const Headers& added) {
  const std::string& authorization = added.back().second;
  return authorization.substr(authorization.rfind('=') + 1);
}

TEST(SigV4, SignsTheCasesOfAwsSuite) {
  const std::vector<Vector> vectors = SuiteVectors();
  ASSERT_EQ(vectors.size(), 38U);
  for (const Vector& v : vectors) {
    const Headers added = Sign(v.request, v.credentials, kSuiteScope, kSuiteNowMs, v.options);
    Request complete = v.request;
    complete.headers.insert(complete.headers.end(), added.begin(), added.end() - 1);
    EXPECT_EQ(CanonicalRequest(complete, v.options.path_rule),
              v.expected.at("canonical_request").get<std::string>())
        << v.name;
    EXPECT_EQ(SignatureOf(added), v.expected.at("signature").get<std::string>()) << v.name;
  }
}

TEST(SigV4, PresignsTheCasesOfAwsSuite) {
  for (const Vector& v : SuiteVectors()) {
    const std::string target = Presign(v.request, v.credentials, kSuiteScope, kSuiteNowMs, 3600, v.options);
    EXPECT_EQ(target.substr(target.rfind('=') + 1), v.expected.at("presigned_signature").get<std::string>())
        << v.name;
  }
}

struct S3Example {
  Request request;
  std::string signature;
};

/// The worked examples of S3's own manual ("Authenticating Requests: Using the Authorization Header").
std::vector<S3Example> S3Examples() {
  const std::pair<std::string, std::string> host = {"Host", "examplebucket.s3.amazonaws.com"};
  const std::string none = Sha256Hex("");
  return {{{"GET", "/test.txt", {host, {"Range", "bytes=0-9"}}, none},
           "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
          {{"PUT",
            "/test%24file.text",
            {host, {"Date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
            Sha256Hex("Welcome to Amazon S3.")},
           "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
          {{"GET", "/?lifecycle", {host}, none},
           "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
          {{"GET", "/?max-keys=2&prefix=J", {host}, none},
           "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"}};
}

TEST(SigV4, SignsTheExamplesOfTheS3Manual) {
  for (const S3Example& example : S3Examples()) {
    const Headers added = Sign(example.request, kExampleKeys, kS3Scope, kExamplesNowMs, {});
    EXPECT_EQ(SignatureOf(added), example.signature) << example.request.target;
  }
}

TEST(SigV4, PresignsTheExampleOfTheS3Manual) {
  const Request request = {
      "GET", "/test.txt", {{"host", "examplebucket.s3.amazonaws.com"}}, std::string(kUnsignedPayload)};
  EXPECT_EQ(Presign(request, kExampleKeys, kS3Scope, kExamplesNowMs, 86'400, {}),
            "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%"
            "2Fus-east-1"
            "%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&"
            "X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

TEST(SigV4, PathRulesDifferInEncodingAndNormalising) {
  EXPECT_EQ(CanonicalPath("/day=2024-01-01%2F/a%20b//c/../d", PathRule::kS3),
            "/day%3D2024-01-01%2F/a%20b//c/../d");
  EXPECT_EQ(CanonicalPath("/a%20b//c/../d/", PathRule::kNormalize), "/a%2520b/d/");
  EXPECT_EQ(CanonicalPath("/a%20b//c/../d", PathRule::kEncodeAsItIs), "/a%2520b//c/../d");
  EXPECT_EQ(CanonicalPath("", PathRule::kNormalize), "/");
}

TEST(SigV4, CanonicalPathIsTheSameHoweverTheSenderEscaped) {
  EXPECT_EQ(CanonicalPath("/k=v/%e2%82%ac", PathRule::kS3),
            CanonicalPath("/k%3Dv/\xE2\x82\xAC", PathRule::kS3));
}

TEST(SigV4, QueryIsSortedByNameThenValue) {
  EXPECT_EQ(CanonicalQuery("b=2&a-b=1&a=2&a=1&c&prefix=x%2Fy+z"), "a=1&a=2&a-b=1&b=2&c=&prefix=x%2Fy%2Bz");
}

TEST(SigV4, SessionTokenIsSentAndSigned) {
  Credentials keys = kExampleKeys;
  keys.session_token = "token/of+session==";
  const Request request = {"GET", "/x", {{"host", "h"}}, Sha256Hex("")};
  const Headers added = Sign(request, keys, kS3Scope, kExamplesNowMs, {});
  EXPECT_NE(added.back().second.find("x-amz-security-token"), std::string::npos);
  EXPECT_NE(std::ranges::find(
                added, std::pair<std::string, std::string>("x-amz-security-token", "token/of+session==")),
            added.end());
}

TEST(Digest, KnownAnswers) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(HexEncode(HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");  // RFC 4231, case 2
  EXPECT_EQ(HexEncode(Md5("abc")), "900150983cd24fb0d6963f7d28e17f72");           // RFC 1321
}

}  // namespace
}  // namespace firn::http::sigv4
