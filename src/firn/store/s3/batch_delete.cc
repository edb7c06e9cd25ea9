#include "firn/store/s3/batch_delete.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "firn/base/bytes.h"
#include "firn/http/aws/xml.h"
#include "firn/http/sigv4/digest.h"
#include "firn/store/s3/answers.h"

namespace firn::store::s3 {

namespace {

constexpr size_t kBatchKeys = 1000;

/// Keys of one bucket, as it was written.
using Buckets = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

class BatchDelete {
 public:
  explicit BatchDelete(S3Client& client) : client_(client) {}

  void Add(const std::string& location) {
    Result<S3Location> parsed = ParseS3Location(location);
    if (!parsed.ok()) return Failed(location, std::move(parsed).error());
    if (!http::aws::IsXmlText(parsed->key)) return One(*parsed);
    buckets_[{parsed->scheme, parsed->bucket}].push_back(std::move(parsed->key));
  }

  std::vector<NotDeleted> Run() {
    for (const auto& [place, keys] : buckets_) {
      const S3Location bucket{place.first, place.second, ""};
      for (size_t begin = 0; begin < keys.size(); begin += kBatchKeys)
        Batch(bucket, std::span(keys).subspan(begin, std::min(kBatchKeys, keys.size() - begin)));
    }
    return std::move(left_);
  }

 private:
  void Batch(const S3Location& bucket, std::span<const std::string> keys) {
    Result<std::vector<DeleteError>> errors = Send(bucket, keys);
    if (errors.ok()) {
      // Those refused one by one are asked for one by one: that tries again where it helps, and says why not.
      for (const DeleteError& error : *errors) One({bucket.scheme, bucket.bucket, error.key});
      return;
    }
    const bool unknown_request = errors.error().http_status() == 405 || errors.error().http_status() == 501;
    for (const std::string& key : keys) {
      const S3Location location{bucket.scheme, bucket.bucket, key};
      if (unknown_request) {
        One(location);
      } else {
        Failed(location.ToString(), errors.error());
      }
    }
  }

  Result<std::vector<DeleteError>> Send(const S3Location& bucket, std::span<const std::string> keys) {
    const std::string body = DeleteBody(keys);
    Call call{.action = "delete objects of",
              .method = "POST",
              .location = bucket,
              .query = {{"delete", ""}},
              .headers = {{"content-type", "application/xml"}},
              .body = body};
    const std::string md5 = http::Md5(body);
    if (!md5.empty()) call.headers.emplace_back("content-md5", Base64Encode(md5));
    if (md5.empty()) call.headers.emplace_back("x-amz-checksum-sha256", Base64Encode(http::Sha256(body)));
    FIRN_ASSIGN(const http::HttpResponse answer, client_.Send(call));
    return ParseDeleteErrors(answer.body);
  }

  void One(const S3Location& location) {
    Status deleted = DeleteOne(client_, location);
    if (!deleted.ok()) Failed(location.ToString(), std::move(deleted).error());
  }

  void Failed(std::string location, Error why) { left_.push_back({std::move(location), std::move(why)}); }

  S3Client& client_;
  Buckets buckets_;
  std::vector<NotDeleted> left_;
};

}  // namespace

Status DeleteOne(S3Client& client, const S3Location& location) {
  auto answer = client.Send({.action = "delete", .method = "DELETE", .location = location});
  if (answer.ok()) return Ok();
  const bool absent =
      answer.error().kind() == ErrorKind::kNotFound && answer.error().service_type() != "NoSuchBucket";
  return absent ? Ok() : Status(std::move(answer).error());
}

std::vector<NotDeleted> DeleteInBatches(S3Client& client, std::span<const std::string> locations) {
  BatchDelete batch(client);
  for (const std::string& location : locations) batch.Add(location);
  return batch.Run();
}

}  // namespace firn::store::s3
