#pragma once

#include <cstdint>
#include <string>

namespace firn::runtime {

/// Ids and randomness come in by constructor, so that a simulation can repeat a run.
class IdSource {
 public:
  virtual ~IdSource() = default;
  virtual uint64_t Random64() = 0;
  std::string Uuid();  ///< version 4 from Random64 (`xxxxxxxx-xxxx-4xxx-...`)
  std::string UuidV7(int64_t now_ms);
  int64_t SnapshotId();  ///< positive long as Java makes it
};

/// Thread-safe, seeded from the operating system.
IdSource& SystemIds();

}  // namespace firn::runtime
