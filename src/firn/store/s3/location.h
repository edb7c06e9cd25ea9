#pragma once

#include <string>
#include <string_view>

#include "firn/base/result.h"

namespace firn::store::s3 {

/// `s3://bucket/key` taken apart. The key is what stands behind the slash, byte for byte: nothing is decoded,
/// so `d=2024%2F01` is a key with a percent sign, as in Java and PyIceberg.
struct S3Location {
  std::string scheme;  ///< "s3", "s3a" or "s3n", as it was written
  std::string bucket;
  std::string key;  ///< may be empty: the bucket itself

  std::string ToString() const { return scheme + "://" + bucket + "/" + key; }
};

Result<S3Location> ParseS3Location(std::string_view location);

/// Whether a location is of this store: `s3:`, `s3a:` or `s3n:`.
bool IsS3Location(std::string_view location);

}  // namespace firn::store::s3
