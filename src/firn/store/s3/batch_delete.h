#pragma once

#include <span>
#include <string>
#include <vector>

#include "firn/store/s3/s3_client.h"
#include "firn/store/store.h"

namespace firn::store::s3 {

/// Deleting what does not exist is Ok; a missing bucket is not.
Status DeleteOne(S3Client& client, const S3Location& location);

/// DeleteObjects, a thousand keys of one bucket in each request; keys that XML cannot hold, and all where the
/// server does not know DeleteObjects, one by one.
std::vector<NotDeleted> DeleteInBatches(S3Client& client, std::span<const std::string> locations);

}  // namespace firn::store::s3
