#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "firn/http/client/http_client.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/executor.h"
#include "firn/runtime/ids.h"
#include "firn/runtime/retry.h"
#include "firn/store/s3/s3_client.h"
#include "firn/store/store.h"

namespace firn::store::s3 {

/// Objects of S3 and of every store that speaks its protocol. Takes s3://, s3a:// and s3n:// locations of any
/// bucket that its keys may use. An object is written whole or not at all (see S3Writer), read as the version
/// that was opened, listed in pages and deleted a thousand at a time. All requests are tried again for ten
/// minutes when the store is throttling, failing or not to be reached, or until the process is to leave at
/// once.
class S3Store final : public Store {
 public:
  /// `uploads` sends parts of big objects in the background.
  S3Store(std::shared_ptr<S3Client> client, std::shared_ptr<runtime::Executor> uploads);

  Result<std::unique_ptr<ObjectWriter>> Create(const std::string& location,
                                               WriteCondition condition) override;
  Result<std::unique_ptr<RandomAccessObject>> Open(const std::string& location) override;
  Result<ObjectInfo> Head(const std::string& location) override;
  Status Delete(const std::string& location) override;
  std::vector<NotDeleted> DeleteMany(std::span<const std::string> locations) override;
  Status List(const std::string& prefix, const std::function<bool(const ObjectInfo&)>& visit) override;

 private:
  const std::shared_ptr<S3Client> client_;
  const std::shared_ptr<runtime::Executor> uploads_;
};

}  // namespace firn::store::s3
