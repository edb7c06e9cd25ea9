#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "firn/commit/protocol/progress.h"
#include "firn/iceberg/catalog.h"
#include "firn/source/memory/memory_source.h"
#include "firn/store/memory/memory_store.h"

namespace firn::sim {

/// Knows what must be true, whatever happened. Looks at each change of a table as it is made, and at
/// everything in the end. The first thing that is wrong is kept.
class Oracle {
 public:
  Oracle(std::shared_ptr<store::MemoryStore> disk, std::shared_ptr<source::MemoryLog> log,
         std::string pipeline_id)
      : disk_(std::move(disk)), log_(std::move(log)), pipeline_id_(std::move(pipeline_id)) {}

  /// Bad records are those that the broker holds and no decoder reads.
  void IsBad(const record::SourcePartition& partition, int64_t offset) { bad_[partition].insert(offset); }

  void OnCommit(const iceberg::TableMetadata& before, const iceberg::LoadedTable& after);
  /// Every record once, in one of the tables or among the letters; every file there, and named once.
  void AtTheEnd(const std::vector<iceberg::LoadedTable>& tables,
                const std::optional<iceberg::LoadedTable>& letters);

  void Wrong(std::string what);
  const std::string& wrong() const { return wrong_; }
  int64_t rows() const { return rows_; }
  int commits() const { return commits_; }

 private:
  using Offsets = std::map<record::SourcePartition, std::multiset<int64_t>>;

  void CheckPositions(const iceberg::TableMetadata& before, const iceberg::TableMetadata& after);
  void CheckTimes(const iceberg::TableMetadata& table);
  Status CheckFiles(const iceberg::LoadedTable& table);
  Status CheckRowsOf(const iceberg::Snapshot& snapshot, const iceberg::LoadedTable& table);
  Status Read(const iceberg::LoadedTable& table, const char* partition, Offsets& offsets);
  void CheckOnce(const Offsets& found, bool bad, const char* where);

  const std::shared_ptr<store::MemoryStore> disk_;
  const std::shared_ptr<source::MemoryLog> log_;
  const std::string pipeline_id_;
  std::map<record::SourcePartition, std::set<int64_t>> bad_;
  std::string wrong_;
  int64_t rows_ = 0;
  int commits_ = 0;
};

}  // namespace firn::sim
