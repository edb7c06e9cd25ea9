// Answers of a REST catalog: whatever a server, or what stands before it, sends, is a value or an error.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "firn/catalog/rest/answer.h"
#include "firn/catalog/rest/commit_answer.h"
#include "firn/catalog/rest/error.h"
#include "firn/catalog/rest/settings.h"

namespace {

namespace rest = firn::catalog::rest;

void ReadAsBody(std::string_view body) {
  if (auto answer = rest::ParseConfigAnswer(body); answer.ok())
    firn::Ignore(rest::MakeSettings({{"uri", "http://h"}}, *answer));
  firn::Ignore(rest::ParseTableAnswer(body));
  if (auto credentials = rest::ParseCredentialsAnswer(body); credentials.ok())
    static_cast<void>(rest::FindCredential(*credentials, "s3://b/t"));
  firn::Ignore(rest::ParseNamespacesAnswer(body));
  firn::Ignore(rest::ParseTablesAnswer(body));
  firn::Ignore(rest::ParseNamespaceAnswer(body));
  firn::Ignore(rest::ParseTokenAnswer(body));
  static_cast<void>(rest::ParseTokenError(body));
  static_cast<void>(rest::ExpiryOfJwtMs(body));
}

/// The first byte chooses the status; every outcome must have words.
void ReadAsAnswer(uint8_t choice, std::string_view body) {
  static constexpr int kStatus[] = {200, 204, 302, 400, 401, 403, 404, 408, 409,
                                    419, 422, 429, 500, 501, 502, 503, 504, 999};
  firn::http::HttpResponse response;
  response.status = kStatus[choice % std::size(kStatus)];
  response.headers = {{"content-type", "application/json"}, {"retry-after", std::string(body.substr(0, 40))}};
  response.body = body;
  if (rest::ErrorOfAnswer(response, "GET x").ToString().empty()) __builtin_trap();
  if (rest::RetryAfterMs(response, 0) < 0) __builtin_trap();
  firn::iceberg::TableCommit commit;
  commit.base.metadata = std::make_shared<const firn::iceberg::TableMetadata>();
  const auto result = rest::CommitResultOf(commit, response, "POST x");
  const bool done = std::holds_alternative<firn::iceberg::CommitDone>(result);
  if (done && response.status != 200) __builtin_trap();
  const bool definite = std::holds_alternative<firn::iceberg::CommitRejected>(result);
  if (definite && response.status / 100 == 2) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  ReadAsBody(body);
  ReadAsAnswer(data[0], body);
  return 0;
}
