// Answers of a schema registry, and what is made of the schemas in them: a column type and a decode plan, or
// an error. The first byte chooses the HTTP status, the rest is the body of every answer.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "firn/decode/avro/avro_decoder.h"
#include "firn/decode/avro/infer_avro.h"
#include "firn/decode/avro/writer_schemas.h"
#include "firn/decode/schema_registry/registry_client.h"

namespace {

using namespace firn;  // NOLINT(google-build-using-namespace)

class OneAnswer final : public http::HttpClient {
 public:
  OneAnswer(int status, std::string_view body) : status_(status), body_(body) {}
  Result<http::HttpResponse> Send(const http::HttpRequest& /*request*/) override {
    http::HttpResponse response;
    response.status = status_;
    response.body = body_;
    return response;
  }

 private:
  int status_;
  std::string_view body_;
};

void TrySchema(const std::string& text) {
  auto schemas = decode::MakeFixedSchema(text);
  if (!schemas.ok()) return;
  const std::shared_ptr<decode::WriterSchemas> shared = std::move(schemas).value();
  const auto inferred = decode::InferAvroSchema({}, shared);
  if (!inferred.ok()) return;
  decode::BoundSchema bound;
  bound.schema = inferred->schema;
  auto decoder = decode::MakeAvroDecoder(bound, shared);
  if (!decoder.ok()) return;
  record::RawBatch raw;
  raw.offsets = {0};
  raw.timestamps_ms = {0};
  raw.keys = {{}};
  raw.values = {{raw.arena.Append(std::string(64, '\2')), 64}};
  const auto result = (*decoder)->Decode(raw, 0);
  if (!result.ok() || result->consumed != 1) std::abort();  // what was inferred needs no change
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr std::array kStatuses = {200, 200, 404, 401, 500, 301};
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  decode::SchemaRegistryConfig config;
  config.urls = {"http://registry"};
  decode::RegistryClient client(config,
                                std::make_unique<OneAnswer>(kStatuses[data[0] % kStatuses.size()], body));
  const auto schema = client.ById(1);
  if (schema.ok()) {
    static_cast<void>(decode::MakeWriterSchema(schema->text, schema->references, "a schema"));
    TrySchema(schema->text);
  } else if (schema.error().message().empty()) {
    std::abort();
  }
  return 0;
}
