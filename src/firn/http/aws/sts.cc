#include "firn/http/aws/sts.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "firn/base/bytes.h"
#include "firn/base/url.h"
#include "firn/http/aws/key_document.h"
#include "firn/http/aws/xml.h"
#include "firn/runtime/retry.h"

namespace firn::http::aws {

namespace {

using Form = std::vector<std::pair<std::string, std::string>>;

std::string EndpointOf(const AwsDeps& deps, const RoleRequest& role) {
  std::string endpoint = role.endpoint;
  for (const char* name : {"AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"}) {
    if (endpoint.empty()) endpoint = deps.variable(name).value_or("");
  }
  if (endpoint.empty()) {
    const std::string_view domain = role.region.starts_with("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
    return fmt::format("https://sts.{}.{}", role.region, domain);
  }
  while (endpoint.ends_with('/')) endpoint.pop_back();
  return endpoint;
}

Form FormOf(const char* action, const RoleRequest& role) {
  Form form = {{"Action", action},
               {"Version", "2011-06-15"},
               {"RoleArn", role.role_arn},
               {"RoleSessionName", role.session_name.empty() ? "firn" : role.session_name}};
  if (role.duration_s > 0) form.emplace_back("DurationSeconds", std::to_string(role.duration_s));
  return form;
}

Error ErrorOfSts(const RoleRequest& role, const HttpResponse& answer) {
  std::string said = "no reason given";
  const Result<XmlElement> root = ParseXml(answer.body);
  const XmlElement* error = root.ok() ? root->Find("Error") : nullptr;
  if (error != nullptr) said = fmt::format("{}: {}", error->Text("Code"), error->Text("Message"));
  const bool later = answer.status >= 500 || answer.status == 429 ||
                     (error != nullptr && error->Text("Code") == "Throttling");
  const ErrorKind kind = later ? ErrorKind::kUnavailable : ErrorKind::kPermissionDenied;
  return Error(kind,
               fmt::format("STS did not give the role {}: {} (HTTP {})", role.role_arn, said, answer.status))
      .WithHttpStatus(answer.status)
      .WithRemedy(later ? "" : "The role's trust policy must name whoever asks for it.");
}

Result<AwsCredentials> CredentialsOf(const RoleRequest& role, const char* action, std::string_view body) {
  FIRN_ASSIGN(const XmlElement root, ParseXml(body));
  const XmlElement* result = root.Find(fmt::format("{}Result", action));
  const XmlElement* given = result == nullptr ? nullptr : result->Find("Credentials");
  if (given == nullptr || given->Text("AccessKeyId").empty() || given->Text("SecretAccessKey").empty())
    return Error(ErrorKind::kCorrupt, "the answer of STS holds no keys");
  AwsCredentials credentials;
  credentials.keys = {std::string(given->Text("AccessKeyId")), std::string(given->Text("SecretAccessKey")),
                      std::string(given->Text("SessionToken"))};
  FIRN_ASSIGN(credentials.expires_at_ms, ParseExpiration(given->Text("Expiration")));
  credentials.source = "role " + role.role_arn;
  return credentials;
}

/// `keys`: null where the form itself authenticates.
Result<AwsCredentials> Ask(const AwsDeps& deps, const RoleRequest& role, const char* action, const Form& form,
                           const sigv4::Credentials* keys) {
  const std::string endpoint = EndpointOf(deps, role);
  const std::string body = FormEncodePairs(form);
  const auto once = [&]() -> Result<AwsCredentials> {
    HttpRequest request{.method = "POST", .url = endpoint + '/', .body = body};
    request.headers = {{"content-type", "application/x-www-form-urlencoded"}};
    if (keys != nullptr) {
      sigv4::Request signable{"POST", "/", request.headers, Sha256Hex(body)};
      signable.headers.emplace_back("host", endpoint.substr(endpoint.find("://") + 3));
      const sigv4::Options options{sigv4::PathRule::kNormalize, /*content_sha256_header=*/false};
      for (auto& header : sigv4::Sign(signable, *keys, {role.region, "sts"}, deps.clock->NowMs(), options))
        request.headers.push_back(std::move(header));
    }
    Result<HttpResponse> answer = deps.http->Send(request);
    if (!answer.ok()) return std::move(answer).error().WithRetry(RetryHint::kYes);
    if (answer->status != 200) return ErrorOfSts(role, *answer);
    return CredentialsOf(role, action, answer->body);
  };
  return runtime::Retry({.max_attempts = 5}, *deps.clock, *deps.ids, {}, once);
}

}  // namespace

Result<AwsCredentials> AssumeRole(const AwsDeps& deps, const RoleRequest& role,
                                  const sigv4::Credentials& keys) {
  Form form = FormOf("AssumeRole", role);
  if (!role.external_id.empty()) form.emplace_back("ExternalId", role.external_id);
  return Ask(deps, role, "AssumeRole", form, &keys);
}

Result<AwsCredentials> AssumeRoleWithWebIdentity(const AwsDeps& deps, const RoleRequest& role,
                                                 const std::string& token_file) {
  FIRN_ASSIGN_CTX(std::string token, deps.read_file(token_file), "web identity token");
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  Form form = FormOf("AssumeRoleWithWebIdentity", role);
  form.emplace_back("WebIdentityToken", token);
  return Ask(deps, role, "AssumeRoleWithWebIdentity", form, nullptr);
}

}  // namespace firn::http::aws
