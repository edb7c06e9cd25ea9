#include "firn/http/sigv4/sigv4.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "firn/base/bytes.h"
#include "firn/base/time.h"
#include "firn/base/url.h"

namespace firn::http::sigv4 {

namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Trimmed, runs of white space made one blank.
std::string Collapsed(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (!IsSpace(c)) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

/// Values of one name are joined by commas in the order in which they are sent.
std::map<std::string, std::string> CanonicalHeaders(const Headers& headers) {
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : headers) {
    auto [entry, fresh] = out.try_emplace(Lower(name), Collapsed(value));
    if (!fresh) entry->second += ',' + Collapsed(value);
  }
  return out;
}

/// A text that is no valid encoding stands for itself.
std::string Recoded(std::string_view text) {
  const Result<std::string> decoded = PercentDecode(text);
  return PercentEncode(decoded.ok() ? std::string_view(*decoded) : text);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t end = text.find(separator); end != std::string_view::npos;
       begin = end + 1, end = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, end - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// RFC 3986's removal of dot segments, and no empty ones; a slash at the end stays.
std::string Normalized(std::string_view path) {
  std::vector<std::string_view> kept;
  for (const std::string_view segment : Split(path, '/')) {
    if (segment.empty() || segment == ".") continue;
    if (segment != "..") {
      kept.push_back(segment);
    } else if (!kept.empty()) {
      kept.pop_back();
    }
  }
  std::string out;
  for (const std::string_view segment : kept) out.append("/").append(segment);
  if (out.empty() || path.ends_with('/')) out += '/';
  return out;
}

std::pair<std::string_view, std::string_view> SplitTarget(std::string_view target) {
  const size_t mark = target.find('?');
  if (mark == std::string_view::npos) return {target, {}};
  return {target.substr(0, mark), target.substr(mark + 1)};
}

}  // namespace

std::string AmzDate(int64_t now_ms) {
  const int64_t seconds = FloorDiv(now_ms, 1000);
  const CivilDate date = CivilFromDays(FloorDiv(seconds, kSecondsPerDay));
  const int64_t of_day = FloorMod(seconds, kSecondsPerDay);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", date.year, date.month, date.day, of_day / 3600,
                     of_day / 60 % 60, of_day % 60);
}

std::string SignedHeaders(const Headers& headers) {
  std::string out;
  for (const auto& [name, value] : CanonicalHeaders(headers)) out += (out.empty() ? "" : ";") + name;
  return out;
}

std::string CanonicalPath(std::string_view path, PathRule rule) {
  const std::string whole = rule == PathRule::kNormalize ? Normalized(path) : std::string(path);
  std::string out;
  for (const std::string_view segment : Split(whole, '/')) {
    if (segment.data() != whole.data()) out += '/';
    out += rule == PathRule::kS3 ? Recoded(segment) : PercentEncode(segment);
  }
  return out.starts_with('/') ? out : '/' + out;
}

std::string CanonicalQuery(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string_view part : Split(query, '&')) {
    if (part.empty()) continue;
    const size_t equals = std::min(part.find('='), part.size());
    pairs.emplace_back(Recoded(part.substr(0, equals)),
                       Recoded(part.substr(std::min(equals + 1, part.size()))));
  }
  std::ranges::sort(pairs);
  std::string out;
  for (const auto& [name, value] : pairs) out.append(out.empty() ? "" : "&").append(name + '=' + value);
  return out;
}

std::string CanonicalRequest(const Request& request, PathRule rule) {
  const auto [path, query] = SplitTarget(request.target);
  std::string headers;
  for (const auto& [name, value] : CanonicalHeaders(request.headers)) headers += name + ':' + value + '\n';
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, CanonicalPath(path, rule),
                     CanonicalQuery(query), headers, SignedHeaders(request.headers), request.payload_hash);
}

std::string CredentialScope(std::string_view amz_date, const Scope& scope) {
  return fmt::format("{}/{}/{}/aws4_request", amz_date.substr(0, 8), scope.region, scope.service);
}

std::string Signature(std::string_view canonical_request, std::string_view secret_access_key,
                      std::string_view amz_date, const Scope& scope) {
  std::string key = HmacSha256(fmt::format("AWS4{}", secret_access_key), amz_date.substr(0, 8));
  key = HmacSha256(key, scope.region);
  key = HmacSha256(key, scope.service);
  key = HmacSha256(key, "aws4_request");
  const std::string to_sign = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, amz_date,
                                          CredentialScope(amz_date, scope), Sha256Hex(canonical_request));
  return HexEncode(HmacSha256(key, to_sign));
}

Headers Sign(const Request& request, const Credentials& credentials, const Scope& scope, int64_t now_ms,
             const Options& options) {
  const std::string date = AmzDate(now_ms);
  Headers added = {{"x-amz-date", date}};
  if (options.content_sha256_header) added.emplace_back("x-amz-content-sha256", request.payload_hash);
  if (!credentials.session_token.empty())
    added.emplace_back("x-amz-security-token", credentials.session_token);
  Request complete = request;
  complete.headers.insert(complete.headers.end(), added.begin(), added.end());
  const std::string signature =
      Signature(CanonicalRequest(complete, options.path_rule), credentials.secret_access_key, date, scope);
  added.emplace_back("authorization",
                     fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm,
                                 credentials.access_key_id, CredentialScope(date, scope),
                                 SignedHeaders(complete.headers), signature));
  return added;
}

std::string Presign(const Request& request, const Credentials& credentials, const Scope& scope,
                    int64_t now_ms, int64_t expires_s, const Options& options) {
  const std::string date = AmzDate(now_ms);
  Request complete = request;
  const auto add = [&complete](std::string_view name, std::string_view value) {
    complete.target += complete.target.find('?') == std::string::npos ? '?' : '&';
    complete.target.append(name).append("=").append(PercentEncode(value));
  };
  add("X-Amz-Algorithm", kAlgorithm);
  add("X-Amz-Credential", credentials.access_key_id + '/' + CredentialScope(date, scope));
  add("X-Amz-Date", date);
  add("X-Amz-Expires", std::to_string(expires_s));
  if (!credentials.session_token.empty()) add("X-Amz-Security-Token", credentials.session_token);
  add("X-Amz-SignedHeaders", SignedHeaders(complete.headers));
  add("X-Amz-Signature",
      Signature(CanonicalRequest(complete, options.path_rule), credentials.secret_access_key, date, scope));
  return complete.target;
}

}  // namespace firn::http::sigv4
