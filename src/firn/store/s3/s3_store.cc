#include "firn/store/s3/s3_store.h"

#include <utility>

#include "firn/store/s3/answers.h"
#include "firn/store/s3/batch_delete.h"
#include "firn/store/s3/s3_object.h"
#include "firn/store/s3/s3_writer.h"

namespace firn::store::s3 {

namespace {

/// Location of one object: the bucket alone is none.
Result<S3Location> ObjectLocation(const std::string& location) {
  FIRN_ASSIGN(S3Location parsed, ParseS3Location(location));
  if (!parsed.key.empty()) return parsed;
  return Error(ErrorKind::kInvalidArgument, location + " names a bucket, not an object in it");
}

}  // namespace

S3Store::S3Store(std::shared_ptr<S3Client> client, std::shared_ptr<runtime::Executor> uploads)
    : client_(std::move(client)), uploads_(std::move(uploads)) {}

Result<std::unique_ptr<ObjectWriter>> S3Store::Create(const std::string& location, WriteCondition condition) {
  FIRN_ASSIGN(S3Location parsed, ObjectLocation(location));
  return std::unique_ptr<ObjectWriter>(
      std::make_unique<S3Writer>(client_, uploads_, std::move(parsed), std::move(condition)));
}

Result<std::unique_ptr<RandomAccessObject>> S3Store::Open(const std::string& location) {
  FIRN_ASSIGN(const S3Location parsed, ObjectLocation(location));
  FIRN_ASSIGN(auto object, S3Object::Open(client_, parsed));
  return std::unique_ptr<RandomAccessObject>(std::move(object));
}

Result<ObjectInfo> S3Store::Head(const std::string& location) {
  FIRN_ASSIGN(const S3Location parsed, ObjectLocation(location));
  return HeadObject(*client_, parsed);
}

Status S3Store::Delete(const std::string& location) {
  FIRN_ASSIGN(const S3Location parsed, ObjectLocation(location));
  return DeleteOne(*client_, parsed);
}

std::vector<NotDeleted> S3Store::DeleteMany(std::span<const std::string> locations) {
  return DeleteInBatches(*client_, locations);
}

Status S3Store::List(const std::string& prefix, const std::function<bool(const ObjectInfo&)>& visit) {
  FIRN_ASSIGN(const S3Location parsed, ParseS3Location(prefix));
  const S3Location bucket{parsed.scheme, parsed.bucket, ""};
  std::string token;
  do {
    Call call{.action = "list",
              .location = bucket,
              .query = {{"list-type", "2"}, {"encoding-type", "url"}, {"prefix", parsed.key}}};
    if (!token.empty()) call.query.emplace_back("continuation-token", token);
    FIRN_ASSIGN_CTX(const http::HttpResponse answer, client_->Send(call), "below " + prefix);
    FIRN_ASSIGN_CTX(ListPage page, ParseListPage(answer.body), "cannot list " + prefix);
    for (ListedObject& object : page.objects) {
      const ObjectInfo info{bucket.ToString() + object.key, object.size_bytes, object.modified_ms,
                            std::move(object.etag)};
      if (!visit(info)) return Ok();
    }
    token = std::move(page.next_token);
  } while (!token.empty());
  return Ok();
}

}  // namespace firn::store::s3
