#include "firn/store/s3/errors.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "firn/base/bytes.h"
#include "firn/store/s3/answers.h"

namespace firn::store::s3 {

namespace {

/// What S3 and those who are like it call things, where the status alone does not say what they mean.
struct KnownCode {
  std::string_view code;
  ErrorKind kind;
  RetryHint retry;
};

constexpr std::array kKnownCodes = {
    KnownCode{"AuthorizationHeaderMalformed", ErrorKind::kInvalidArgument, RetryHint::kNo},
    KnownCode{"ConditionalRequestConflict", ErrorKind::kUnavailable, RetryHint::kYes},
    KnownCode{"ExpiredToken", ErrorKind::kPermissionDenied, RetryHint::kNo},
    KnownCode{"InsufficientStorage", ErrorKind::kResourceExhausted, RetryHint::kNo},
    KnownCode{"InternalError", ErrorKind::kUnavailable, RetryHint::kYes},
    KnownCode{"InvalidToken", ErrorKind::kPermissionDenied, RetryHint::kNo},
    KnownCode{"NotImplemented", ErrorKind::kUnsupported, RetryHint::kNo},
    KnownCode{"OperationAborted", ErrorKind::kUnavailable, RetryHint::kYes},
    KnownCode{"QuotaExceeded", ErrorKind::kResourceExhausted, RetryHint::kNo},
    KnownCode{"RequestLimitExceeded", ErrorKind::kUnavailable, RetryHint::kYes},
    KnownCode{"RequestTimeTooSkewed", ErrorKind::kPermissionDenied, RetryHint::kNo},
    KnownCode{"RequestTimeout", ErrorKind::kTimeout, RetryHint::kYes},
    KnownCode{"ServiceUnavailable", ErrorKind::kUnavailable, RetryHint::kYes},
    KnownCode{"SlowDown", ErrorKind::kUnavailable, RetryHint::kYes},
    KnownCode{"Throttling", ErrorKind::kUnavailable, RetryHint::kYes},
    KnownCode{"ThrottlingException", ErrorKind::kUnavailable, RetryHint::kYes},
    KnownCode{"TokenRefreshRequired", ErrorKind::kPermissionDenied, RetryHint::kNo},
    KnownCode{"XMinioStorageFull", ErrorKind::kResourceExhausted, RetryHint::kNo},
};

Error OfStatus(int status, std::string message) {
  const auto make = [&message](ErrorKind kind, RetryHint retry) {
    return Error(kind, std::move(message)).WithRetry(retry);
  };
  if (status == 401 || status == 403) return make(ErrorKind::kPermissionDenied, RetryHint::kNo);
  if (status == 404) return make(ErrorKind::kNotFound, RetryHint::kNo);
  if (status == 408) return make(ErrorKind::kTimeout, RetryHint::kYes);
  if (status == 409 || status == 412) return make(ErrorKind::kConflict, RetryHint::kNo);
  if (status == 429) return make(ErrorKind::kUnavailable, RetryHint::kYes);
  if (status == 501) return make(ErrorKind::kUnsupported, RetryHint::kNo);
  if (status == 507) return make(ErrorKind::kResourceExhausted, RetryHint::kNo);
  if (status >= 500) return make(ErrorKind::kUnavailable, RetryHint::kYes);
  return make(ErrorKind::kInvalidArgument, RetryHint::kNo);
}

Error OfCodeAndStatus(std::string_view code, int status, std::string message) {
  const auto known = std::ranges::find(kKnownCodes, code, &KnownCode::code);
  if (known == kKnownCodes.end()) return OfStatus(status, std::move(message));
  return Error(known->kind, std::move(message)).WithRetry(known->retry);
}

std::string SkewRemedy(const ErrorContext& context, const http::HttpResponse& answer) {
  const std::optional<int64_t> server_ms = ParseHttpDate(answer.header("date"));
  if (!server_ms) return "Set this machine's clock (NTP).";
  return fmt::format("This machine's clock is {} s from the server's: set it (NTP).",
                     (context.now_ms - *server_ms) / 1000);
}

std::string RegionRemedy(const ErrorContext& context, std::string_view region) {
  if (region.empty())
    return fmt::format("The request was signed for {}: set `region` to the bucket's.", context.region);
  return fmt::format("The bucket is in {}, the request was signed for {}: set `region: {}`.", region,
                     context.region, region);
}

std::string RemedyOf(const ErrorContext& context, const http::HttpResponse& answer,
                     const ServiceError& said) {
  const std::string_view header = answer.header("x-amz-bucket-region");
  const std::string_view region = header.empty() ? std::string_view(said.region) : header;
  const std::string_view code = said.code;
  if (code == "NoSuchBucket") return "Create the bucket, or correct its name or the endpoint.";
  if (code == "RequestTimeTooSkewed") return SkewRemedy(context, answer);
  if (code == "ExpiredToken" || code == "TokenRefreshRequired")
    return "The keys have ended: give new ones, or a source that renews them (a role, credential_process).";
  if (code == "InvalidAccessKeyId" || code == "InvalidToken")
    return "The server does not know these keys: correct them, or the endpoint.";
  if (code == "SignatureDoesNotMatch")
    return "The secret key is wrong, or something on the way changes requests (a proxy).";
  if (answer.status / 100 == 3 || code == "AuthorizationHeaderMalformed" ||
      code == "IllegalLocationConstraintException" || (!region.empty() && region != context.region)) {
    return RegionRemedy(context, region);
  }
  if (answer.status == 401 || answer.status == 403) {
    return context.action == "read" || context.action == "look up"
               ? "Give the keys' owner s3:GetObject, and s3:ListBucket (without it a missing object is "
                 "refused, too)."
               : "Give the keys' owner the right to do this (s3:PutObject, s3:DeleteObject, s3:ListBucket, "
                 "and "
                 "those of the KMS key).";
  }
  return {};
}

/// What the server said, for people: S3's own words, or the beginning of something else's (a proxy's page).
std::string Words(const ServiceError& said, const http::HttpResponse& answer) {
  if (!said.code.empty())
    return said.message.empty() ? said.code : fmt::format("{}: {}", said.code, said.message);
  if (answer.body.empty()) return "no reason given";
  return fmt::format("answered '{}'", Excerpt(answer.body, 80));
}

}  // namespace

Error ErrorOfAnswer(const ErrorContext& context, const http::HttpResponse& answer) {
  ServiceError said = ParseServiceError(answer.body).value_or(ServiceError{});
  if (said.request_id.empty()) said.request_id = answer.header("x-amz-request-id");
  std::string message =
      fmt::format("cannot {} {}: {} (HTTP {}{}{})", context.action, context.location, Words(said, answer),
                  answer.status, said.request_id.empty() ? "" : ", request id ", said.request_id);
  return OfCodeAndStatus(said.code, answer.status, std::move(message))
      .WithHttpStatus(answer.status)
      .WithServiceType(said.code)
      .WithRemedy(RemedyOf(context, answer, said));
}

bool SaysStaleKeys(const Error& error) {
  constexpr std::array<std::string_view, 4> kCodes = {"ExpiredToken", "InvalidToken", "TokenRefreshRequired",
                                                      "InvalidAccessKeyId"};
  return std::ranges::find(kCodes, error.service_type()) != kCodes.end();
}

}  // namespace firn::store::s3
