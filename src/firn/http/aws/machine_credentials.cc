#include "firn/http/aws/machine_credentials.h"

#include <array>
#include <string>

#include <fmt/format.h>

#include "firn/http/aws/key_document.h"
#include "firn/runtime/retry.h"

namespace firn::http::aws {

namespace {

constexpr std::string_view kInstanceSource = "instance metadata";

Result<std::string> Fetch(const AwsDeps& deps, const HttpRequest& request, std::string_view source) {
  const auto once = [&]() -> Result<std::string> {
    Result<HttpResponse> answer = deps.metadata->Send(request);
    if (!answer.ok())
      return Error(ErrorKind::kUnavailable, fmt::format("{}: {}", source, answer.error().message()));
    if (answer->status == 200) return std::move(answer->body);
    const ErrorKind kind = answer->status >= 500 || answer->status == 429 ? ErrorKind::kUnavailable
                           : answer->status == 404                        ? ErrorKind::kNotFound
                                                                          : ErrorKind::kPermissionDenied;
    return Error(kind, fmt::format("{} answers HTTP {}", source, answer->status))
        .WithHttpStatus(answer->status);
  };
  return runtime::Retry({.max_attempts = 3, .initial_backoff_ms = 100, .max_backoff_ms = 1000}, *deps.clock,
                        *deps.ids, {}, once);
}

std::string_view HostOf(std::string_view url) {
  const size_t begin = url.find("://") + 3;
  std::string_view host = url.substr(begin, url.find_first_of("/?", begin) - begin);
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool MaySendTokenTo(std::string_view url) {
  if (url.starts_with("https://")) return true;
  constexpr std::array<std::string_view, 6> kHosts = {
      "localhost", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]", "[0:0:0:0:0:0:0:1]"};
  const std::string_view host = url.starts_with("http://") ? HostOf(url) : std::string_view();
  if (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos)
    return true;
  for (const std::string_view known : kHosts)
    if (host == known) return true;
  return false;
}

/// `Authorization` of the container's endpoint; the file is read each time because it changes.
Result<std::string> ContainerToken(const AwsDeps& deps) {
  if (const auto file = deps.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")) {
    FIRN_ASSIGN_CTX(std::string token, deps.read_file(*file), "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
    return token;
  }
  return deps.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or("");
}

}  // namespace

Result<std::optional<AwsCredentials>> ContainerCredentials(const AwsDeps& deps) {
  std::string url = deps.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI").value_or("");
  if (const auto relative = deps.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"))
    url = "http://169.254.170.2" + *relative;
  if (url.empty()) return std::optional<AwsCredentials>();
  if (!MaySendTokenTo(url)) {
    return Error(ErrorKind::kInvalidArgument,
                 "AWS_CONTAINER_CREDENTIALS_FULL_URI is plain HTTP to another machine");
  }
  FIRN_ASSIGN(const std::string token, ContainerToken(deps));
  HttpRequest request{.url = url};
  if (!token.empty()) request.headers.emplace_back("authorization", token);
  FIRN_ASSIGN(const std::string body, Fetch(deps, request, "the container's credentials endpoint"));
  FIRN_ASSIGN(AwsCredentials credentials, ParseKeyDocument(body, "container"));
  return std::optional<AwsCredentials>(std::move(credentials));
}

Result<AwsCredentials> InstanceCredentials(const AwsDeps& deps) {
  if (deps.variable("AWS_EC2_METADATA_DISABLED") == "true")
    return Error(ErrorKind::kNotFound, "instance metadata: switched off by AWS_EC2_METADATA_DISABLED");
  std::string base = deps.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or("http://169.254.169.254");
  while (base.ends_with('/')) base.pop_back();
  Result<std::string> token = Fetch(deps,
                                    {.method = "PUT",
                                     .url = base + "/latest/api/token",
                                     .headers = {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}}},
                                    kInstanceSource);
  if (!token.ok()) return Error(ErrorKind::kNotFound, token.error().message());
  const HttpHeaders headers = {{"x-aws-ec2-metadata-token", *token}};
  const std::string path = base + "/latest/meta-data/iam/security-credentials/";
  FIRN_ASSIGN(std::string role, Fetch(deps, {.url = path, .headers = headers}, kInstanceSource));
  role = role.substr(0, role.find_first_of("\r\n"));
  FIRN_ASSIGN(const std::string body, Fetch(deps, {.url = path + role, .headers = headers}, kInstanceSource));
  return ParseKeyDocument(body, "instance role " + role);
}

}  // namespace firn::http::aws
