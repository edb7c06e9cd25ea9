#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "firn/base/result.h"
#include "firn/decode/schema_registry/registry_client.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/executor.h"
#include "firn/runtime/ids.h"
#include "firn/runtime/retry.h"

namespace firn::decode {

using RegisteredSchemaPtr = std::shared_ptr<const RegisteredSchema>;

struct SchemaCacheOptions {
  size_t max_schemas = 10'000;       ///< beyond, the one not asked for the longest is forgotten
  int64_t patience_ms = 200;         ///< how long Find waits for the registry
  int64_t negative_ttl_ms = 30'000;  ///< how long "not found" and "unusable" are believed
  runtime::RetryPolicy retry = {.initial_backoff_ms = 200, .max_backoff_ms = 5'000};
};

/// The schemas of one registry by id, shared by all lanes. Ids are immutable, so what was found is good for
/// ever. Asking the registry is the work of a thread of its own, so that nobody who needs a schema has to
/// stand still while the registry is away. Thread-safe.
class SchemaCache {
 public:
  SchemaCache(std::shared_ptr<SchemaFetcher> fetcher, runtime::Clock& clock, runtime::IdSource& ids,
              SchemaCacheOptions options = {});
  ~SchemaCache();
  SchemaCache(const SchemaCache&) = delete;
  SchemaCache& operator=(const SchemaCache&) = delete;

  /// Returns within `patience_ms` or so. kNotFound: the registry has none. kCorrupt: it is of no use.
  /// Retriable: not yet here, ask again after a pause (the registry is asked meanwhile, with back-off).
  Result<RegisteredSchemaPtr> Find(int32_t id);
  /// The newest version of a subject, asked of the registry by the caller's own thread.
  Result<RegisteredSchema> Latest(const std::string& subject) { return fetcher_->Latest(subject); }

 private:
  struct Entry {
    RegisteredSchemaPtr schema;
    std::optional<Error> failure;  ///< final until `asked_again_ns`
    int64_t asked_again_ns = 0;
    bool asking = false;
    std::list<int32_t>::iterator use;
  };

  Entry& Touch(int32_t id);
  void Ask(int32_t id);
  void Fetch(int32_t id);
  void Settle(int32_t id, Result<RegisteredSchema> answer);
  std::optional<Result<RegisteredSchemaPtr>> Known(const Entry& entry) const;
  Error NotYet(int32_t id) const;
  void Evict();

  const std::shared_ptr<SchemaFetcher> fetcher_;
  runtime::Clock& clock_;
  runtime::IdSource& ids_;
  const SchemaCacheOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable answered_;
  std::unordered_map<int32_t, Entry> entries_;
  std::list<int32_t> uses_;       ///< ids, the last one asked for in front
  std::optional<Error> trouble_;  ///< why the registry does not answer; empty while it does
  int failures_ = 0;
  int64_t next_try_ns_ = 0;
  bool closing_ = false;
  std::unique_ptr<runtime::Executor> thread_;  ///< made with the first question
};

}  // namespace firn::decode
