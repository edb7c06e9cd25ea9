#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "firn/base/result.h"
#include "firn/decode/schema_registry/config.h"
#include "firn/http/client/http_client.h"

namespace firn::decode {

/// What a registry holds under one id.
struct RegisteredSchema {
  std::string type = "AVRO";  ///< AVRO, JSON, PROTOBUF
  std::string text;
  /// Texts of the schemas it refers to, at any depth; each comes after what it refers to itself.
  std::vector<std::string> references;
};

/// What a cache of schemas asks.
class SchemaFetcher {
 public:
  virtual ~SchemaFetcher() = default;
  /// kNotFound: the registry has no schema of this id. kCorrupt: what it has cannot be used, now or later.
  /// Retriable: it cannot answer now. Anything else: nobody will get an answer before someone acts.
  virtual Result<RegisteredSchema> ById(int32_t id) = 0;
  /// The newest version of a subject; errors as above.
  virtual Result<RegisteredSchema> Latest(const std::string& subject) = 0;
};

/// Confluent's REST protocol. Thread-safe. One call is bounded in time; it tries each URL once.
class RegistryClient final : public SchemaFetcher {
 public:
  RegistryClient(SchemaRegistryConfig config, std::unique_ptr<http::HttpClient> http);

  Result<RegisteredSchema> ById(int32_t id) override;
  Result<RegisteredSchema> Latest(const std::string& subject) override;

  static constexpr size_t kMaxSchemaBytes = size_t{4} << 20;
  static constexpr int kMaxReferences = 200;
  static constexpr int kMaxReferenceDepth = 20;

 private:
  struct Gathering {
    std::set<std::string> seen;  ///< paths asked for
    std::vector<std::string> texts;
    size_t bytes = 0;
  };

  Result<RegisteredSchema> Fetch(const std::string& path);
  Status GatherReferences(const nlohmann::json& answer, int depth, Gathering* all);
  Result<nlohmann::json> Get(const std::string& path);
  Result<nlohmann::json> GetFrom(const std::string& url, const std::string& path);

  const SchemaRegistryConfig config_;
  const std::unique_ptr<http::HttpClient> http_;
  std::string authorization_;
  std::atomic<size_t> preferred_{0};  ///< URL that answered last
};

/// With an HTTP client of its own.
std::unique_ptr<SchemaFetcher> MakeRegistryClient(const SchemaRegistryConfig& config);

}  // namespace firn::decode
