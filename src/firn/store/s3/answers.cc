#include "firn/store/s3/answers.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "firn/base/bytes.h"
#include "firn/base/time.h"
#include "firn/base/url.h"
#include "firn/http/aws/xml.h"

namespace firn::store::s3 {

namespace {

using http::aws::ParseXml;
using http::aws::XmlElement;

std::optional<int64_t> Number(std::string_view text) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Error Unexpected(std::string_view what, std::string_view value) {
  return Error(ErrorKind::kCorrupt, fmt::format("the answer of S3 has {} '{}'", what, Excerpt(value)));
}

Result<XmlElement> Root(std::string_view body, std::string_view name) {
  FIRN_ASSIGN(XmlElement root, ParseXml(body));
  if (root.name != name) return Unexpected("the root element", root.name);
  return root;
}

Result<ListedObject> ParseListed(const XmlElement& contents, bool encoded) {
  ListedObject object;
  object.key = contents.Text("Key");
  if (encoded) {
    FIRN_ASSIGN(object.key, FormDecode(object.key));
  }
  const std::optional<int64_t> size = Number(contents.Text("Size"));
  if (object.key.empty() || !size || *size < 0) return Unexpected("an object of size", contents.Text("Size"));
  object.size_bytes = *size;
  int64_t micros = 0;
  const std::string_view modified = contents.Text("LastModified");
  if (ParseTimestampMicros(modified, &micros) != TimeParse::kOk) return Unexpected("the time", modified);
  object.modified_ms = FloorDiv(micros, 1000);
  object.etag = Unquoted(contents.Text("ETag"));
  return object;
}

}  // namespace

Result<ListPage> ParseListPage(std::string_view body) {
  FIRN_ASSIGN(const XmlElement root, Root(body, "ListBucketResult"));
  const bool encoded = root.Text("EncodingType") == "url";
  ListPage page;
  for (const XmlElement& child : root.children) {
    if (child.name != "Contents") continue;
    FIRN_ASSIGN(ListedObject object, ParseListed(child, encoded));
    page.objects.push_back(std::move(object));
  }
  if (root.Text("IsTruncated") != "true") return page;
  page.next_token = root.Text("NextContinuationToken");
  // Without one the same page would be asked for again and again.
  if (page.next_token.empty()) return Unexpected("more pages and the token", "");
  return page;
}

std::optional<ServiceError> ParseServiceError(std::string_view body) {
  const Result<XmlElement> root = ParseXml(body);
  if (!root.ok() || root->name != "Error") return std::nullopt;
  return ServiceError{std::string(root->Text("Code")), std::string(root->Text("Message")),
                      std::string(root->Text("RequestId")), std::string(root->Text("Region"))};
}

Result<std::string> ParseUploadId(std::string_view body) {
  FIRN_ASSIGN(const XmlElement root, Root(body, "InitiateMultipartUploadResult"));
  if (root.Text("UploadId").empty()) return Unexpected("the upload id", "");
  return std::string(root.Text("UploadId"));
}

Result<std::vector<DeleteError>> ParseDeleteErrors(std::string_view body) {
  FIRN_ASSIGN(const XmlElement root, Root(body, "DeleteResult"));
  std::vector<DeleteError> errors;
  for (const XmlElement& child : root.children) {
    if (child.name != "Error") continue;
    errors.push_back({std::string(child.Text("Key")), std::string(child.Text("Code")),
                      std::string(child.Text("Message"))});
  }
  return errors;
}

std::string DeleteBody(std::span<const std::string> keys) {
  std::string body =
      R"(<?xml version="1.0" encoding="UTF-8"?><Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">)";
  for (const std::string& key : keys) body += "<Object><Key>" + http::aws::XmlEscape(key) + "</Key></Object>";
  return body + "<Quiet>true</Quiet></Delete>";
}

std::string CompleteUploadBody(std::span<const std::string> etags) {
  std::string body =
      R"(<?xml version="1.0" encoding="UTF-8"?><CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">)";
  for (size_t i = 0; i < etags.size(); ++i) {
    body += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1,
                        http::aws::XmlEscape(etags[i]));
  }
  return body + "</CompleteMultipartUpload>";
}

std::optional<int64_t> ParseHttpDate(std::string_view text) {
  // "Fri, 24 May 2013 00:00:00 GMT": fixed widths, the weekday is not looked at.
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || !text.ends_with(" GMT")) return std::nullopt;
  for (size_t month = 0; month < kMonths.size(); ++month) {
    if (text.substr(8, 3) != kMonths[month]) continue;
    const std::string iso =
        fmt::format("{}-{:02}-{}T{}", text.substr(12, 4), month + 1, text.substr(5, 2), text.substr(17, 8));
    int64_t micros = 0;
    if (ParseTimestampMicros(iso, &micros) != TimeParse::kOk) return std::nullopt;
    return FloorDiv(micros, 1000);
  }
  return std::nullopt;
}

std::optional<int64_t> TotalOfContentRange(std::string_view text) {
  if (!text.starts_with("bytes ") || text.find('/') == std::string_view::npos) return std::nullopt;
  const std::optional<int64_t> total = Number(text.substr(text.find('/') + 1));
  return total && *total >= 0 ? total : std::nullopt;
}

std::string Unquoted(std::string_view etag) {
  if (etag.size() >= 2 && etag.starts_with('"') && etag.ends_with('"'))
    etag = etag.substr(1, etag.size() - 2);
  return std::string(etag);
}

}  // namespace firn::store::s3
