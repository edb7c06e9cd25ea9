#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"

/// What S3 answers and asks in XML, and its headers. Pure.
namespace firn::store::s3 {

struct ListedObject {
  std::string key;
  int64_t size_bytes = 0;
  int64_t modified_ms = 0;
  std::string etag;  ///< without quotes
};

struct ListPage {
  std::vector<ListedObject> objects;
  std::string next_token;  ///< empty: the last page
};
/// Of ListObjectsV2.
Result<ListPage> ParseListPage(std::string_view body);

/// The `Error` document.
struct ServiceError {
  std::string code;
  std::string message;
  std::string request_id;
  std::string region;  ///< where the bucket is, when that is what is wrong
};
/// Empty for a body that is no such document.
std::optional<ServiceError> ParseServiceError(std::string_view body);

/// Of CreateMultipartUpload.
Result<std::string> ParseUploadId(std::string_view body);

struct DeleteError {
  std::string key;
  std::string code;
  std::string message;
};
/// Of DeleteObjects: what was not deleted.
Result<std::vector<DeleteError>> ParseDeleteErrors(std::string_view body);

std::string DeleteBody(std::span<const std::string> keys);
/// Part i + 1 has the ETag etags[i].
std::string CompleteUploadBody(std::span<const std::string> etags);

/// `Fri, 24 May 2013 00:00:00 GMT`; empty for anything else.
std::optional<int64_t> ParseHttpDate(std::string_view text);
/// The length in `bytes 0-9/1000`; empty where it is not known.
std::optional<int64_t> TotalOfContentRange(std::string_view text);
std::string Unquoted(std::string_view etag);

}  // namespace firn::store::s3
