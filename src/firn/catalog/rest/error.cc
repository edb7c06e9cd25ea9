#include "firn/catalog/rest/error.h"

#include <time.h>

#include <algorithm>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include "firn/base/bytes.h"
#include "firn/catalog/rest/answer.h"

namespace firn::catalog::rest {

namespace {

constexpr int64_t kMaxRetryAfterMs = 300'000;
constexpr size_t kExcerptBytes = 120;

/// How a page that is not the catalog's presents itself: its title, or how it begins.
std::string Presentation(const http::HttpResponse& response) {
  if (response.body.empty()) return "an empty body";
  const std::string_view body = response.body;
  const std::string_view type = response.header("content-type");
  const std::string what = type.empty() ? "a body" : Excerpt(type, kExcerptBytes);
  constexpr std::string_view kTitle = "<title>";
  const size_t title = body.find(kTitle);
  const size_t end = body.find("</title>", title);
  if (title != std::string_view::npos && end != std::string_view::npos) {
    const std::string_view text = body.substr(title + kTitle.size(), end - title - kTitle.size());
    return fmt::format("{} titled \"{}\"", what, Excerpt(text, kExcerptBytes));
  }
  return fmt::format("{} that begins with \"{}\"", what, Excerpt(body, kExcerptBytes));
}

/// Pages of a proxy whose catalog is away may pass; one that does not like the request stays.
Error NotACatalog(const http::HttpResponse& response, std::string_view request) {
  const int status = response.status;
  const bool may_pass = status < 400 || status == 404 || status == 408 || status >= 500;
  return Error(may_pass ? ErrorKind::kUnavailable : ErrorKind::kInvalidArgument,
               fmt::format("{} answered {} with {}", request, status, Presentation(response)))
      .WithHttpStatus(status)
      .WithRemedy(
          "This is not an Iceberg REST catalog speaking: check uri, warehouse and what stands between.");
}

ErrorKind KindOfNotFound(std::string_view type) {
  // The catalog knows the table, but its metadata file is gone: a table that must not be taken for absent.
  if (type == "NotFoundException") return ErrorKind::kCorrupt;
  return ErrorKind::kNotFound;
}

ErrorKind KindOf(int status, std::string_view type) {
  switch (status) {
    case 400:
      return type == "UnsupportedOperationException" ? ErrorKind::kUnsupported : ErrorKind::kInvalidArgument;
    case 401:
    case 403:
    case 419:
      return ErrorKind::kPermissionDenied;
    case 404:
      return KindOfNotFound(type);
    case 405:
    case 406:
    case 501:
      return ErrorKind::kUnsupported;
    case 409:
      if (type == "NamespaceNotEmptyException") return ErrorKind::kInvalidArgument;
      return type == "CommitFailedException" ? ErrorKind::kConflict : ErrorKind::kAlreadyExists;
    case 408:
    case 429:
      return ErrorKind::kUnavailable;
    default:
      return status >= 500 ? ErrorKind::kUnavailable : ErrorKind::kInvalidArgument;
  }
}

std::string RemedyOf(int status) {
  switch (status) {
    case 401:
    case 419:
      return "Check credential, token and scope of the catalog, and whether the token has ended.";
    case 403:
      return "The catalog knows who asks and does not allow this: its rights are given on the server.";
    case 429:
      return "The server asks for fewer requests: raise its limit or the commit interval.";
    default:
      return {};
  }
}

Error Redirected(const http::HttpResponse& response, std::string_view request) {
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("{} was sent elsewhere ({}): {}", request, response.status,
                           Excerpt(response.header("location"), kExcerptBytes)))
      .WithHttpStatus(response.status)
      .WithRemedy(
          "Redirects are not followed, since they would carry the token along: set uri to the new address.");
}

}  // namespace

Error ErrorOfAnswer(const http::HttpResponse& response, std::string_view request) {
  if (response.status >= 300 && response.status < 400) return Redirected(response, request);
  const std::optional<ErrorAnswer> answer = ParseErrorAnswer(response.body);
  const bool decided_before_the_catalog =
      IsUnauthorized(response.status) || response.status == 403 || response.status == 429;
  if (!answer && !decided_before_the_catalog) return NotACatalog(response, request);
  const std::string type = answer ? answer->type : std::string();
  std::string text = fmt::format("{} answered {}", request, response.status);
  if (!type.empty()) text += " " + Excerpt(type, kExcerptBytes);
  if (answer && !answer->message.empty()) text += ": " + Excerpt(answer->message, 2'000);
  return Error(KindOf(response.status, type), std::move(text))
      .WithHttpStatus(response.status)
      .WithServiceType(type)
      .WithRemedy(RemedyOf(response.status));
}

Error ErrorOfBody(const http::HttpResponse& response, std::string_view request, const Error& parse_error) {
  const std::string_view body = response.body;
  const size_t first = body.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (body[first] == '{' || body[first] == '[')) {
    return Error(ErrorKind::kCorrupt,
                 fmt::format("{} answered {} with JSON that is not what the specification says: {}", request,
                             response.status, parse_error.ToString()))
        .WithHttpStatus(response.status)
        .WithRetry(RetryHint::kYes)
        .WithRemedy("Compare the versions of server and client.");
  }
  return NotACatalog(response, request);
}

bool IsUnauthorized(int status) { return status == 401 || status == 419; }

int64_t RetryAfterMs(const http::HttpResponse& response, int64_t now_ms) {
  const std::string text(response.header("retry-after"));
  if (text.empty()) return 0;
  int64_t seconds = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (code == std::errc() && end == text.data() + text.size())
    return std::clamp<int64_t>(seconds, 0, kMaxRetryAfterMs / 1000) * 1000;
  tm date{};
  if (::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date) == nullptr) return 0;
  return std::clamp<int64_t>(static_cast<int64_t>(::timegm(&date)) * 1000 - now_ms, 0, kMaxRetryAfterMs);
}

}  // namespace firn::catalog::rest
