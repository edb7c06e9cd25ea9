#include "firn/store/s3/fake_s3_fixture.h"

#include <algorithm>

#include <fmt/format.h>

#include "firn/base/bytes.h"
#include "firn/base/url.h"
#include "firn/http/aws/xml.h"
#include "firn/http/sigv4/digest.h"

namespace firn::store::s3 {

namespace {

http::HttpResponse Answer(int status, std::string body = "", http::HttpHeaders headers = {}) {
  http::HttpResponse answer;
  answer.status = status;
  answer.headers = std::move(headers);
  answer.body = std::move(body);
  return answer;
}

std::string HeaderOf(const http::HttpHeaders& headers, const std::string& name) {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

}  // namespace

struct FakeS3::Request {
  const http::HttpRequest& sent;
  std::string path;
  std::map<std::string, std::string> query;

  explicit Request(const http::HttpRequest& request) : sent(request) {
    const size_t begin = request.url.find('/', request.url.find("://") + 3);
    const std::string target = request.url.substr(begin);
    const size_t mark = std::min(target.find('?'), target.size());
    path = PercentDecode(target.substr(0, mark)).value();
    std::string_view rest = std::string_view(target).substr(std::min(mark + 1, target.size()));
    while (!rest.empty()) {
      const std::string_view pair = rest.substr(0, rest.find('&'));
      rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
      const size_t equals = std::min(pair.find('='), pair.size());
      query[PercentDecode(pair.substr(0, equals)).value()] =
          PercentDecode(pair.substr(std::min(equals + 1, pair.size()))).value();
    }
  }
  std::string header(const std::string& name) const { return HeaderOf(sent.headers, name); }
};

std::string FakeS3::Seen::header(const std::string& name) const { return HeaderOf(headers, name); }

http::HttpResponse FakeS3::Failure(int status, const std::string& code, const std::string& more) {
  return Answer(status,
                fmt::format("<?xml version=\"1.0\"?><Error><Code>{}</Code><Message>said so</Message>{}"
                            "<RequestId>R7</RequestId></Error>",
                            code, more));
}

size_t FakeS3::Count(const std::string& method, const std::string& part) const {
  return static_cast<size_t>(std::ranges::count_if(seen, [&](const Seen& one) {
    return one.method == method && one.target.find(part) != std::string::npos;
  }));
}

Result<http::HttpResponse> FakeS3::Send(const http::HttpRequest& request) {
  const std::lock_guard lock(mutex_);
  seen.push_back({request.method, request.url.substr(request.url.find('/', 8)), request.headers});
  if (before) {
    if (auto instead = before(request)) return *std::move(instead);
  }
  http::HttpResponse answer = Serve(Request(request));
  if (after) {
    if (auto instead = after(request)) return *std::move(instead);
  }
  if (request.on_body && answer.status / 100 == 2) {
    const std::string body = std::exchange(answer.body, {});
    for (size_t i = 0; i < body.size(); i += 1000)
      FIRN_TRY(request.on_body(std::string_view(body).substr(i, 1000)));
  }
  return answer;
}

http::HttpResponse FakeS3::Serve(const Request& request) {
  const std::string& method = request.sent.method;
  if (!request.path.starts_with("/bucket")) return Failure(404, "NoSuchBucket");
  if (method == "GET" && request.query.contains("list-type")) return List(request);
  if (method == "GET" || method == "HEAD") return Read(request);
  if (method == "POST") return Post(request);
  if (method == "DELETE") {
    const auto upload = request.query.find("uploadId");
    if (upload != request.query.end()) return Answer(uploads.erase(upload->second) > 0 ? 204 : 404);
    objects.erase(request.path);
    return Answer(204);
  }
  const std::string body(request.sent.body);
  if (request.query.contains("partNumber")) {
    const auto upload = uploads.find(request.query.at("uploadId"));
    if (upload == uploads.end()) return Failure(404, "NoSuchUpload");
    upload->second[std::stoi(request.query.at("partNumber"))] = body;
    return Answer(200, "", {{"etag", '"' + HexEncode(http::Md5(body)) + '"'}});
  }
  std::map<std::string, std::string> headers;
  for (const auto& [name, value] : request.sent.headers) headers[name] = value;
  return Put(request, body, std::move(headers));
}

http::HttpResponse FakeS3::Put(const Request& request, std::string body,
                               std::map<std::string, std::string> headers) {
  if (!request.header("if-none-match").empty()) {
    if (!knows_if_none_match) return Failure(501, "NotImplemented");
    if (objects.contains(request.path)) return Failure(412, "PreconditionFailed");
  }
  const std::string match = request.header("if-match");
  if (!match.empty()) {
    const auto there = objects.find(request.path);
    if (there == objects.end()) return Failure(404, "NoSuchKey");
    if (match != '"' + there->second.etag + '"') return Failure(412, "PreconditionFailed");
  }
  if (!keeps_metadata) headers.clear();
  const std::string etag = HexEncode(http::Md5(body));
  objects[request.path] = {std::move(body), etag, std::move(headers)};
  return Answer(200, "", {{"etag", '"' + etag + '"'}});
}

http::HttpResponse FakeS3::Read(const Request& request) {
  const auto found = objects.find(request.path);
  const bool head = request.sent.method == "HEAD";
  if (found == objects.end()) return head ? Answer(404) : Failure(404, "NoSuchKey");
  const Object& object = found->second;
  const std::string match = request.header("if-match");
  if (!match.empty() && match != '"' + object.etag + '"') return Failure(412, "PreconditionFailed");
  http::HttpHeaders headers = {{"etag", '"' + object.etag + '"'},
                               {"last-modified", "Fri, 24 May 2013 00:00:00 GMT"}};
  for (const auto& [name, value] : object.headers)
    if (name.starts_with("x-amz-meta-")) headers.emplace_back(name, value);
  const auto size = static_cast<int64_t>(object.body.size());
  std::string range = request.header("range");
  if (range.empty() || head) {
    headers.emplace_back("content-length", std::to_string(size));
    return Answer(200, head ? "" : object.body, headers);
  }
  if (size == 0) return Failure(416, "InvalidRange");
  range = range.substr(6);
  const int64_t begin =
      range.starts_with('-') ? std::max<int64_t>(0, size - std::stoll(range.substr(1))) : std::stoll(range);
  const int64_t end = range.starts_with('-')
                          ? size
                          : std::min<int64_t>(size, std::stoll(range.substr(range.find('-') + 1)) + 1);
  headers.emplace_back("content-range", fmt::format("bytes {}-{}/{}", begin, end - 1, size));
  headers.emplace_back("content-length", std::to_string(end - begin));
  return Answer(206, object.body.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)),
                headers);
}

http::HttpResponse FakeS3::Post(const Request& request) {
  if (request.query.contains("delete")) return DeleteObjects(request);
  if (request.query.contains("uploads")) {
    const std::string id = fmt::format("upload/{}+", next_upload_++);
    uploads[id];
    for (const auto& [name, value] : request.sent.headers) upload_headers[id][name] = value;
    return Answer(200, "<InitiateMultipartUploadResult xmlns='x'><UploadId>" + id +
                           "</UploadId></InitiateMultipartUploadResult>");
  }
  const auto upload = uploads.find(request.query.at("uploadId"));
  if (upload == uploads.end()) return Failure(404, "NoSuchUpload");
  const auto listed = http::aws::ParseXml(request.sent.body);
  if (listed->children.size() != upload->second.size()) return Failure(400, "InvalidPart");
  std::string body;
  for (const auto& [number, bytes] : upload->second) body += bytes;
  const http::HttpResponse put = Put(request, std::move(body), upload_headers[upload->first]);
  if (put.status != 200) return put;
  uploads.erase(upload);
  return Answer(200, "<CompleteMultipartUploadResult><Key>k</Key></CompleteMultipartUploadResult>");
}

http::HttpResponse FakeS3::List(const Request& request) const {
  const std::string prefix = "/bucket/" + request.query.at("prefix");
  const auto token = request.query.find("continuation-token");
  std::string body =
      "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
      "<EncodingType>url</EncodingType>";
  size_t count = 0;
  std::string next;
  for (const auto& [path, object] : objects) {
    if (!path.starts_with(prefix) || (token != request.query.end() && path < token->second)) continue;
    if (count++ == page_keys) {
      next = path;
      break;
    }
    body += fmt::format(
        "<Contents><Key>{}</Key><LastModified>2013-05-24T00:00:00.000Z</LastModified>"
        "<ETag>&#34;{}&#34;</ETag><Size>{}</Size></Contents>",
        FormEncode(path.substr(8)), object.etag, object.body.size());
  }
  body += fmt::format("<IsTruncated>{}</IsTruncated>", !next.empty());
  if (!next.empty())
    body += "<NextContinuationToken>" + http::aws::XmlEscape(next) + "</NextContinuationToken>";
  return Answer(200, body + "</ListBucketResult>");
}

http::HttpResponse FakeS3::DeleteObjects(const Request& request) {
  if (!knows_delete_objects) return Failure(501, "NotImplemented");
  if (request.header("content-md5") != Base64Encode(http::Md5(request.sent.body)))
    return Failure(400, "BadDigest");
  const auto asked = http::aws::ParseXml(request.sent.body);
  std::string body = "<DeleteResult>";
  for (const auto& child : asked->children) {
    if (child.name != "Object") continue;
    const std::string key(child.Text("Key"));
    if (key.starts_with("locked")) {
      body += "<Error><Key>" + key + "</Key><Code>AccessDenied</Code><Message>no</Message></Error>";
    } else {
      objects.erase("/bucket/" + key);
    }
  }
  return Answer(200, body + "</DeleteResult>");
}

}  // namespace firn::store::s3
