#include "firn/decode/schema_registry/schema_cache.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace firn::decode {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;

}  // namespace

SchemaCache::SchemaCache(std::shared_ptr<SchemaFetcher> fetcher, runtime::Clock& clock,
                         runtime::IdSource& ids, SchemaCacheOptions options)
    : fetcher_(std::move(fetcher)), clock_(clock), ids_(ids), options_(options) {}

SchemaCache::~SchemaCache() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  thread_.reset();
}

Result<RegisteredSchemaPtr> SchemaCache::Find(int32_t id) {
  std::unique_lock lock(mutex_);
  if (auto known = Known(Touch(id))) return *std::move(known);
  Ask(id);
  // Others' questions may push the entry out meanwhile; then it is not here yet.
  const auto is_settled = [&] {
    const auto entry = entries_.find(id);
    return entry == entries_.end() || !entry->second.asking;
  };
  answered_.wait_for(lock, std::chrono::milliseconds(options_.patience_ms), is_settled);
  if (const auto entry = entries_.find(id); entry != entries_.end()) {
    if (auto known = Known(entry->second)) return *std::move(known);
  }
  return NotYet(id);
}

// With the lock held, as all below but Fetch.
SchemaCache::Entry& SchemaCache::Touch(int32_t id) {
  const auto [found, is_new] = entries_.try_emplace(id);
  Entry& entry = found->second;
  if (is_new) {
    uses_.push_front(id);
    entry.use = uses_.begin();
    Evict();
  } else {
    uses_.splice(uses_.begin(), uses_, entry.use);
  }
  return entry;
}

void SchemaCache::Evict() {
  while (entries_.size() > options_.max_schemas) {
    entries_.erase(uses_.back());
    uses_.pop_back();
  }
}

std::optional<Result<RegisteredSchemaPtr>> SchemaCache::Known(const Entry& entry) const {
  if (entry.schema != nullptr) return Result<RegisteredSchemaPtr>(entry.schema);
  if (entry.failure && clock_.MonotonicNs() < entry.asked_again_ns)
    return Result<RegisteredSchemaPtr>(Error(*entry.failure));
  return std::nullopt;
}

void SchemaCache::Ask(int32_t id) {
  Entry& entry = entries_.at(id);
  if (entry.asking || clock_.MonotonicNs() < next_try_ns_) return;
  entry.asking = true;
  if (thread_ == nullptr) thread_ = std::make_unique<runtime::Executor>("registry", 1);
  thread_->Submit([this, id] { Fetch(id); });
}

// On the cache's thread.
void SchemaCache::Fetch(int32_t id) {
  {
    const std::lock_guard lock(mutex_);
    // Those that waited in line behind one that failed wait on.
    if (closing_ || clock_.MonotonicNs() < next_try_ns_) {
      if (const auto entry = entries_.find(id); entry != entries_.end()) entry->second.asking = false;
      answered_.notify_all();
      return;
    }
  }
  Result<RegisteredSchema> answer = fetcher_->ById(id);
  const std::lock_guard lock(mutex_);
  Settle(id, std::move(answer));
  answered_.notify_all();
}

void SchemaCache::Settle(int32_t id, Result<RegisteredSchema> answer) {
  const auto found = entries_.find(id);
  if (!answer.ok() && answer.error().retry() == RetryHint::kYes) {
    if (found != entries_.end()) found->second.asking = false;
    trouble_ = std::move(answer).error();
    next_try_ns_ = clock_.MonotonicNs() + options_.retry.BackoffMs(++failures_, ids_) * kNsPerMs;
    return;
  }
  trouble_.reset();
  failures_ = 0;
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.asking = false;
  if (answer.ok()) {
    entry.schema = std::make_shared<const RegisteredSchema>(std::move(answer).value());
    entry.failure.reset();
  } else {
    entry.failure = std::move(answer).error();
    entry.asked_again_ns = clock_.MonotonicNs() + options_.negative_ttl_ms * kNsPerMs;
  }
}

Error SchemaCache::NotYet(int32_t id) const {
  if (trouble_) {
    return Error(ErrorKind::kUnavailable, fmt::format("waiting for schema {}: {}", id, trouble_->message()));
  }
  return {ErrorKind::kUnavailable, fmt::format("waiting for schema {} of the registry", id)};
}

}  // namespace firn::decode
