#include "firn/store/memory/memory_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace firn::store {

namespace {

Error NotFound(const std::string& location) { return {ErrorKind::kNotFound, location + ": no such object"}; }

using StrikeFn = std::function<Status(StoreOp, FaultTime, const std::string&)>;

class MemoryObject final : public RandomAccessObject {
 public:
  MemoryObject(std::string location, std::shared_ptr<const std::string> bytes, StrikeFn strike)
      : location_(std::move(location)), bytes_(std::move(bytes)), strike_(std::move(strike)) {}

  int64_t size_bytes() const override { return static_cast<int64_t>(bytes_->size()); }

  Result<int64_t> ReadAt(int64_t offset, int64_t length, void* out) override {
    FIRN_TRY(strike_(StoreOp::kRead, FaultTime::kBefore, location_));
    if (offset < 0 || length < 0)
      return Error(ErrorKind::kInvalidArgument, location_ + ": negative read range");
    int64_t got = std::clamp<int64_t>(size_bytes() - offset, 0, length);
    if (got > 0) std::memcpy(out, bytes_->data() + offset, static_cast<size_t>(got));
    return got;
  }

 private:
  std::string location_;
  std::shared_ptr<const std::string> bytes_;
  StrikeFn strike_;
};

}  // namespace

class MemoryStore::Writer final : public ObjectWriter {
 public:
  Writer(MemoryStore& store, std::string location, WriteCondition condition)
      : store_(store), location_(std::move(location)), condition_(std::move(condition)) {}

  Status Write(std::string_view bytes) override {
    FIRN_CHECK(!done_, "Write after Finish or Discard");
    FIRN_TRY(store_.Strike(StoreOp::kWrite, FaultTime::kBefore, location_));
    bytes_ += bytes;
    return Ok();
  }

  int64_t bytes_written() const override { return static_cast<int64_t>(bytes_.size()); }

  Status Finish() override {
    FIRN_CHECK(!done_, "Finish after Finish or Discard");
    done_ = true;
    FIRN_TRY(store_.Strike(StoreOp::kFinish, FaultTime::kBefore, location_));
    FIRN_TRY(store_.Put(location_, bytes_, condition_));
    return store_.Strike(StoreOp::kFinish, FaultTime::kAfter, location_);
  }

  void Discard() noexcept override { done_ = true; }

 private:
  MemoryStore& store_;
  std::string location_;
  WriteCondition condition_;
  std::string bytes_;
  bool done_ = false;
};

Result<std::unique_ptr<ObjectWriter>> MemoryStore::Create(const std::string& location,
                                                          WriteCondition condition) {
  FIRN_TRY(Strike(StoreOp::kCreate, FaultTime::kBefore, location));
  return std::unique_ptr<ObjectWriter>(std::make_unique<Writer>(*this, location, std::move(condition)));
}

Result<std::unique_ptr<RandomAccessObject>> MemoryStore::Open(const std::string& location) {
  FIRN_TRY(Strike(StoreOp::kOpen, FaultTime::kBefore, location));
  std::lock_guard lock(mutex_);
  auto it = objects_.find(location);
  if (it == objects_.end()) return NotFound(location);
  auto strike = [this](StoreOp op, FaultTime time, const std::string& where) {
    return Strike(op, time, where);
  };
  return std::unique_ptr<RandomAccessObject>(
      std::make_unique<MemoryObject>(location, it->second.bytes, strike));
}

Result<ObjectInfo> MemoryStore::Head(const std::string& location) {
  FIRN_TRY(Strike(StoreOp::kHead, FaultTime::kBefore, location));
  std::lock_guard lock(mutex_);
  auto it = objects_.find(location);
  if (it == objects_.end()) return NotFound(location);
  const auto& object = it->second;
  return ObjectInfo{location, static_cast<int64_t>(object.bytes->size()), object.modified_ms,
                    std::to_string(object.version)};
}

Status MemoryStore::Delete(const std::string& location) {
  FIRN_TRY(Strike(StoreOp::kDelete, FaultTime::kBefore, location));
  {
    std::lock_guard lock(mutex_);
    objects_.erase(location);
  }
  return Strike(StoreOp::kDelete, FaultTime::kAfter, location);
}

Status MemoryStore::List(const std::string& prefix, const std::function<bool(const ObjectInfo&)>& visit) {
  FIRN_TRY(Strike(StoreOp::kList, FaultTime::kBefore, prefix));
  std::vector<ObjectInfo> found;
  {
    std::lock_guard lock(mutex_);
    for (auto it = objects_.lower_bound(prefix); it != objects_.end() && it->first.starts_with(prefix);
         ++it) {
      const auto& object = it->second;
      found.push_back({it->first, static_cast<int64_t>(object.bytes->size()), object.modified_ms,
                       std::to_string(object.version)});
    }
  }
  for (const auto& info : found) {
    if (!visit(info)) break;
  }
  return Ok();
}

void MemoryStore::SetHook(Hook hook) {
  std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

void MemoryStore::FailNext(StoreOp op, std::string part, Error error, FaultTime time) {
  std::lock_guard lock(mutex_);
  faults_.push_back({op, time, std::move(part), std::move(error)});
}

int64_t MemoryStore::Count(StoreOp op) const {
  std::lock_guard lock(mutex_);
  auto it = counts_.find(op);
  return it == counts_.end() ? 0 : it->second;
}

std::vector<std::string> MemoryStore::Locations() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [location, object] : objects_) all.push_back(location);
  return all;
}

void MemoryStore::SetNowMs(int64_t now_ms) {
  std::lock_guard lock(mutex_);
  now_ms_ = now_ms;
}

Status MemoryStore::Strike(StoreOp op, FaultTime time, const std::string& location) {
  Hook hook;
  {
    std::lock_guard lock(mutex_);
    if (time == FaultTime::kBefore) ++counts_[op];
    hook = hook_;
    auto due = std::find_if(faults_.begin(), faults_.end(), [&](const Fault& fault) {
      return fault.op == op && fault.time == time && location.find(fault.part) != std::string::npos;
    });
    if (due != faults_.end()) {
      Error error = std::move(due->error);
      faults_.erase(due);
      return error;
    }
  }
  return hook ? hook(op, time, location) : Ok();
}

Status MemoryStore::Put(const std::string& location, std::string bytes, const WriteCondition& condition) {
  std::lock_guard lock(mutex_);
  const auto there = objects_.find(location);
  if (condition.must_be_new() && there != objects_.end())
    return Error(ErrorKind::kAlreadyExists, location + ": exists already");
  const bool other = there == objects_.end() || std::to_string(there->second.version) != condition.version();
  if (condition.has_version() && other)
    return Error(ErrorKind::kConflict, location + ": is not the version that was to be replaced")
        .WithRetry(RetryHint::kNo);
  objects_[location] = {std::make_shared<const std::string>(std::move(bytes)), now_ms_, next_version_++};
  return Ok();
}

}  // namespace firn::store
