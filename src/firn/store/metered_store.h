#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "firn/obs/metrics.h"
#include "firn/store/store.h"

namespace firn::store {

/// Another store, with its requests counted and timed by kind: read, write (creation and finish of an
/// object), head, list, delete (metrics firn_store_*). A DeleteMany counts as one delete, with the outcome of
/// its first failure. Thread-safe as that store is; `metrics` outlives it.
class MeteredStore final : public Store {
 public:
  MeteredStore(std::shared_ptr<Store> store, const std::string& name, obs::Metrics& metrics);
  ~MeteredStore() override;

  Result<std::unique_ptr<ObjectWriter>> Create(const std::string& location,
                                               WriteCondition condition) override;
  Result<std::unique_ptr<RandomAccessObject>> Open(const std::string& location) override;
  Result<ObjectInfo> Head(const std::string& location) override;
  Status Delete(const std::string& location) override;
  std::vector<NotDeleted> DeleteMany(std::span<const std::string> locations) override;
  Status List(const std::string& prefix, const std::function<bool(const ObjectInfo&)>& visit) override;

 private:
  struct Meters;
  class Writer;
  class Reader;

  std::shared_ptr<Store> store_;
  std::shared_ptr<Meters> meters_;
};

}  // namespace firn::store
