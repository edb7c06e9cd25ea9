#include "firn/store/s3/s3_object.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "firn/store/s3/answers.h"
#include "firn/store/s3/s3_writer.h"

namespace firn::store::s3 {

namespace {

constexpr int64_t kTailBytes = 128 << 10;

/// Of an answer to GET or HEAD. The length is the object's, not the range's.
Result<ObjectInfo> InfoOf(const http::HttpResponse& answer, const S3Location& location) {
  ObjectInfo info;
  info.location = location.ToString();
  info.version = Unquoted(answer.header("etag"));
  info.modified_ms = ParseHttpDate(answer.header("last-modified")).value_or(0);
  const std::string_view length = answer.header("content-length");
  const std::optional<int64_t> total = TotalOfContentRange(answer.header("content-range"));
  const auto [end, code] = std::from_chars(length.data(), length.data() + length.size(), info.size_bytes);
  if (total) {
    info.size_bytes = *total;
  } else if (answer.status == 206 || length.empty() || code != std::errc() ||
             end != length.data() + length.size() || info.size_bytes < 0) {
    return Error(ErrorKind::kCorrupt, fmt::format("{}: the answer of S3 has no length", info.location));
  }
  return info;
}

Result<http::HttpResponse> SendHead(S3Client& client, const S3Location& location) {
  auto answer = client.Send({.action = "look up", .method = "HEAD", .location = location});
  if (answer.ok() || answer.error().http_status() == 404 || answer.error().http_status() == 0) return answer;
  // An answer to HEAD has no body that could say why: a read of one byte is refused for the same reason.
  return client.Send({.action = "look up", .location = location, .headers = {{"range", "bytes=0-0"}}});
}

bool IsInvalidRange(const Error& error) { return error.http_status() == 416; }

}  // namespace

Result<MarkedInfo> HeadMarked(S3Client& client, const S3Location& location) {
  FIRN_ASSIGN(const http::HttpResponse answer, SendHead(client, location));
  FIRN_ASSIGN(ObjectInfo info, InfoOf(answer, location));
  return MarkedInfo{std::move(info), std::string(answer.header(kMarkerHeader))};
}

Result<ObjectInfo> HeadObject(S3Client& client, const S3Location& location) {
  FIRN_ASSIGN(MarkedInfo marked, HeadMarked(client, location));
  return std::move(marked.info);
}

Result<std::unique_ptr<S3Object>> S3Object::Open(std::shared_ptr<S3Client> client,
                                                 const S3Location& location) {
  const Call call{.action = "read",
                  .location = location,
                  .headers = {{"range", fmt::format("bytes=-{}", kTailBytes)}},
                  .expected_bytes = kTailBytes};
  Result<http::HttpResponse> answer = client->Send(call);
  if (!answer.ok() && !IsInvalidRange(answer.error())) return std::move(answer).error();
  if (!answer.ok()) {  // how S3 answers a range of an empty object
    FIRN_ASSIGN(ObjectInfo info, HeadObject(*client, location));
    return std::unique_ptr<S3Object>(new S3Object(std::move(client), location, std::move(info), {}));
  }
  FIRN_ASSIGN(ObjectInfo info, InfoOf(*answer, location));
  std::string tail = std::move(answer->body);
  const auto expected = static_cast<size_t>(std::min(info.size_bytes, kTailBytes));
  if (tail.size() < expected) {
    return Error(ErrorKind::kCorrupt,
                 fmt::format("{}: S3 gave {} of the last {} bytes", info.location, tail.size(), expected));
  }
  return std::unique_ptr<S3Object>(
      new S3Object(std::move(client), location, std::move(info), std::move(tail)));
}

S3Object::S3Object(std::shared_ptr<S3Client> client, S3Location location, ObjectInfo info, std::string tail)
    : client_(std::move(client)),
      location_(std::move(location)),
      info_(std::move(info)),
      tail_(std::move(tail)) {}

Result<int64_t> S3Object::ReadAt(int64_t offset, int64_t length, void* out) {
  if (offset < 0 || length < 0)
    return Error(ErrorKind::kInvalidArgument, location_.ToString() + ": read at a negative offset or length");
  length = std::max<int64_t>(0, std::min(length, info_.size_bytes - offset));
  const int64_t tail_begin = info_.size_bytes - static_cast<int64_t>(tail_.size());
  const int64_t remote = std::clamp<int64_t>(tail_begin - offset, 0, length);
  auto* bytes = static_cast<char*>(out);
  if (remote > 0) FIRN_TRY(Fetch(offset, remote, bytes));
  if (length > remote) {
    std::memcpy(bytes + remote, tail_.data() + (offset + remote - tail_begin),
                static_cast<size_t>(length - remote));
  }
  return length;
}

Status S3Object::Fetch(int64_t offset, int64_t length, char* out) {
  int64_t received = 0;
  Call call{.action = "read",
            .location = location_,
            .headers = {{"range", fmt::format("bytes={}-{}", offset, offset + length - 1)}},
            .expected_bytes = length};
  if (!info_.version.empty()) call.headers.emplace_back("if-match", '"' + info_.version + '"');
  call.on_try = [&received] { received = 0; };
  call.on_body = [&](std::string_view piece) -> Status {
    if (std::cmp_greater(piece.size(), length - received)) {
      return Error(ErrorKind::kUnsupported, location_.ToString() + ": S3 gave more than the range asked for");
    }
    std::memcpy(out + received, piece.data(), piece.size());
    received += static_cast<int64_t>(piece.size());
    return Ok();
  };
  const Result<http::HttpResponse> answer = client_->Send(call);
  if (!answer.ok() && answer.error().http_status() == 412) {
    return Error(ErrorKind::kIo, location_.ToString() + ": was overwritten while it was read");
  }
  if (!answer.ok()) return answer.error();
  const bool whole = answer->status == 200 && offset == 0;
  if (received == length && (answer->status == 206 || whole)) return Ok();
  return Error(ErrorKind::kIo, fmt::format("{}: S3 gave {} of {} bytes at {} (HTTP {})", location_.ToString(),
                                           received, length, offset, answer->status));
}

}  // namespace firn::store::s3
