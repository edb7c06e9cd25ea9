#pragma once

#include <memory>
#include <string>

#include "firn/store/memory/memory_store.h"
#include "sim/faults.h"

namespace firn::sim {

/// A process's way to the one store of the world. Each request takes its turn and may fail, before or after
/// it took effect.
class SimStore final : public store::Store {
 public:
  SimStore(std::shared_ptr<store::MemoryStore> disk, Network& network)
      : disk_(std::move(disk)), network_(network) {}

  Result<std::unique_ptr<store::ObjectWriter>> Create(const std::string& location,
                                                      store::WriteCondition condition) override;
  Result<std::unique_ptr<store::RandomAccessObject>> Open(const std::string& location) override;
  Result<store::ObjectInfo> Head(const std::string& location) override;
  Status Delete(const std::string& location) override;
  Status List(const std::string& prefix, const std::function<bool(const store::ObjectInfo&)>& visit) override;

 private:
  Status Request() { return network_.Pass(network_.rates().store); }

  const std::shared_ptr<store::MemoryStore> disk_;
  Network& network_;
};

}  // namespace firn::sim
