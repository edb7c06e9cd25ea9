#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "firn/commit/protocol/shared_read.h"
#include "firn/pipeline/config.h"
#include "firn/route/router.h"

namespace firn::pipeline {

/// One table that records go to. Shared by lanes and control thread; only the counters change.
struct Target {
  uint32_t id = 0;
  size_t rule = 0;
  std::string name;  ///< `catalog.namespace.table`; empty: records that go to no table
  std::string key;   ///< what the rule's template took

  /// What fills in the lanes: added by a lane as it takes records, taken away when it hands its part over.
  std::atomic<int64_t> records{0};
  std::atomic<int64_t> bytes{0};
  std::atomic<int64_t> letter_bytes{0};
};
using TargetPtr = std::shared_ptr<Target>;

/// The tables of a pipeline, as they turn up. Holds each rule to its `max_tables`, and tells two sources
/// apart whose names become the same table. Thread-safe; an answer never changes, so lanes may keep it.
class TargetBook {
 public:
  explicit TargetBook(const PipelineConfig& config);

  using Answer = std::variant<TargetPtr, route::NotRouted>;
  Answer Find(const route::RoutedTo& to);

  /// A table of an earlier run: it counts, and is let in whatever the limit. Null when no rule has its
  /// template any more.
  TargetPtr Remember(const std::string& name, const commit::Complete::KnownTable& table);

  /// Where records go that have no table: they become dead letters.
  const TargetPtr& unrouted() const { return unrouted_; }
  std::vector<TargetPtr> All() const;

 private:
  TargetPtr Add(const std::string& name, size_t rule, const std::string& key);

  struct Limit {
    std::string name;  ///< the rule's template
    int64_t max_tables = 0;
    int64_t count = 0;
  };
  const TargetPtr unrouted_ = std::make_shared<Target>();
  mutable std::mutex mutex_;
  std::vector<Limit> limits_;
  std::map<std::string, TargetPtr> by_name_;
  uint32_t next_id_ = 1;
};

}  // namespace firn::pipeline
