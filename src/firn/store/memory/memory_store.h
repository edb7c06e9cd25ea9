#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "firn/store/store.h"

namespace firn::store {

/// The requests of a store, as a fault hook tells them apart.
enum class StoreOp : uint8_t { kCreate, kWrite, kFinish, kOpen, kRead, kHead, kDelete, kList };

/// When a fault strikes: before anything happened, or after the request took effect (a lost answer).
enum class FaultTime : uint8_t { kBefore, kAfter };

/// A store in memory, for tests and simulation, with the promises of the interface (atomic creation,
/// invisible until Finish). Takes any location as a key. Faults are injected by a hook or by FailNext.
/// Thread-safe.
class MemoryStore final : public Store {
 public:
  /// An error returned is what the caller gets. Called without any lock held.
  using Hook = std::function<Status(StoreOp op, FaultTime time, const std::string& location)>;

  Result<std::unique_ptr<ObjectWriter>> Create(const std::string& location,
                                               WriteCondition condition) override;
  Result<std::unique_ptr<RandomAccessObject>> Open(const std::string& location) override;
  Result<ObjectInfo> Head(const std::string& location) override;
  Status Delete(const std::string& location) override;
  Status List(const std::string& prefix, const std::function<bool(const ObjectInfo&)>& visit) override;

  void SetHook(Hook hook);
  /// The next request of this kind whose location contains `part` fails once with `error`.
  void FailNext(StoreOp op, std::string part, Error error, FaultTime time = FaultTime::kBefore);
  /// How many requests of a kind were made.
  int64_t Count(StoreOp op) const;
  /// All objects, sorted.
  std::vector<std::string> Locations() const;
  /// Time that new objects get as modified_ms.
  void SetNowMs(int64_t now_ms);

 private:
  class Writer;
  struct Object {
    std::shared_ptr<const std::string> bytes;
    int64_t modified_ms = 0;
    int64_t version = 0;
  };
  struct Fault {
    StoreOp op;
    FaultTime time;
    std::string part;
    Error error;
  };

  Status Strike(StoreOp op, FaultTime time, const std::string& location);
  Status Put(const std::string& location, std::string bytes, const WriteCondition& condition);

  mutable std::mutex mutex_;
  std::map<std::string, Object> objects_;
  std::map<StoreOp, int64_t> counts_;
  std::vector<Fault> faults_;
  Hook hook_;
  int64_t now_ms_ = 0;
  int64_t next_version_ = 1;
};

/// Answers every location with one store.
class SingleStoreResolver final : public StoreResolver {
 public:
  explicit SingleStoreResolver(std::shared_ptr<Store> store) : store_(std::move(store)) {}
  Result<std::shared_ptr<Store>> Resolve(std::string_view /*location*/,
                                         const StoreAccess& /*access*/) override {
    return store_;
  }

 private:
  std::shared_ptr<Store> store_;
};

}  // namespace firn::store
