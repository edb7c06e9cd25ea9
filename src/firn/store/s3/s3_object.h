#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "firn/store/s3/s3_client.h"
#include "firn/store/store.h"

namespace firn::store::s3 {

/// One object, pinned to the version (ETag) that it had when it was opened. Opening asks for its last 128
/// KiB, which are kept: the footer of a Parquet file, or all of a small file, costs that one request.
/// Thread-safe.
class S3Object final : public RandomAccessObject {
 public:
  static Result<std::unique_ptr<S3Object>> Open(std::shared_ptr<S3Client> client, const S3Location& location);

  int64_t size_bytes() const override { return info_.size_bytes; }
  Result<int64_t> ReadAt(int64_t offset, int64_t length, void* out) override;
  int64_t cheap_gap_bytes() const override { return 1 << 20; }

 private:
  S3Object(std::shared_ptr<S3Client> client, S3Location location, ObjectInfo info, std::string tail);
  Status Fetch(int64_t offset, int64_t length, char* out);

  const std::shared_ptr<S3Client> client_;
  const S3Location location_;
  const ObjectInfo info_;
  const std::string tail_;  ///< the last bytes of the object
};

/// HEAD. kNotFound when there is no such object.
Result<ObjectInfo> HeadObject(S3Client& client, const S3Location& location);
/// The same with the object's own marker (MarkerHeader in s3_writer.h), empty when it has none.
struct MarkedInfo {
  ObjectInfo info;
  std::string marker;
};
Result<MarkedInfo> HeadMarked(S3Client& client, const S3Location& location);

}  // namespace firn::store::s3
