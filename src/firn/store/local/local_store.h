#pragma once

#include <functional>
#include <memory>
#include <string>

#include "firn/store/store.h"

namespace firn::store {

/// Files of a POSIX file system.
///
/// Create writes to a file of another name in the same folder (`.<name>.<process>-<n>.tmp`), made when Create
/// is called, with the folders above it. Finish syncs that file, gives it its name in one atomic step
/// (refused when the name is taken and IfExists is kFail), and syncs the folder once; when it returned Ok the
/// object survives a power cut. New folders are synced into their parents when they are made. A killed
/// process can leave a `.tmp` file behind: List shows it, nothing else does. A full disk or quota is
/// kResourceExhausted, missing rights and read-only file systems are kPermissionDenied; both name the path.
class LocalStore final : public Store {
 public:
  Result<std::unique_ptr<ObjectWriter>> Create(const std::string& location,
                                               WriteCondition condition) override;
  Result<std::unique_ptr<RandomAccessObject>> Open(const std::string& location) override;
  Result<ObjectInfo> Head(const std::string& location) override;
  Status Delete(const std::string& location) override;
  Status List(const std::string& prefix, const std::function<bool(const ObjectInfo&)>& visit) override;
};

}  // namespace firn::store
