#include "firn/decode/avro/writer_schemas.h"

#include <utility>

#include <fmt/format.h>

#include "firn/avro/fingerprint.h"
#include "firn/base/bytes.h"
#include "firn/decode/reasons.h"

namespace firn::decode {

namespace {

constexpr size_t kIdBytes = 4;
constexpr std::string_view kSingleObjectMark("\xC3\x01", 2);
constexpr size_t kFingerprintBytes = 8;
constexpr size_t kExcerptBytes = 12;

WriterSchemaPtr Failed(std::string_view reason, std::string message) {
  auto schema = std::make_shared<WriterSchema>();
  schema->failure = {reason, std::move(message)};
  return schema;
}

bool NotFramed(std::string_view bytes, std::string_view expected, Failure* failure) {
  *failure = {reason::kUnframedAvro,
              fmt::format("the record begins with {}, expected {}",
                          bytes.empty() ? std::string("nothing") : HexEncode(bytes.substr(0, kExcerptBytes)),
                          expected)};
  return false;
}

class RegistrySchemas final : public WriterSchemas {
 public:
  RegistrySchemas(std::shared_ptr<SchemaCache> cache, std::string subject, std::string scalar_column)
      : cache_(std::move(cache)), subject_(std::move(subject)), scalar_column_(std::move(scalar_column)) {}

  bool Unframe(std::string_view bytes, uint64_t* key, std::string_view* datum,
               Failure* failure) const override {
    if (bytes.size() <= kIdBytes || bytes[0] != '\0')
      return NotFramed(bytes, "a zero byte and the schema's id in four bytes", failure);
    uint32_t id = 0;
    for (size_t i = 1; i <= kIdBytes; ++i) id = (id << 8) | static_cast<uint8_t>(bytes[i]);
    if (id > INT32_MAX)
      return NotFramed(bytes, "a zero byte and the schema's id in four bytes, which is not negative",
                       failure);
    *key = id;
    *datum = bytes.substr(1 + kIdBytes);
    return true;
  }

  Result<WriterSchemaPtr> Find(uint64_t key) override {
    const auto id = static_cast<int32_t>(key);
    Result<RegisteredSchemaPtr> found = cache_->Find(id);
    if (found.ok()) return Parsed(id, *found);
    const Error& error = found.error();
    if (error.kind() == ErrorKind::kNotFound)
      return Failed(reason::kUnknownSchemaId, fmt::format("the registry has no schema {}", id));
    if (error.kind() == ErrorKind::kCorrupt)
      return Failed(reason::kUnusableSchema, fmt::format("schema {}: {}", id, error.message()));
    return std::move(found).error();
  }

  Result<WriterSchemaPtr> Latest() override {
    if (subject_.empty()) return Error(ErrorKind::kNotFound, "no subject is configured");
    FIRN_ASSIGN(const RegisteredSchema schema, cache_->Latest(subject_));
    return Make(schema, fmt::format("the newest schema of subject {}", subject_));
  }

 private:
  WriterSchemaPtr Make(const RegisteredSchema& schema, const std::string& name) const {
    if (schema.type != "AVRO")
      return Failed(reason::kUnusableSchema, fmt::format("{} is of type {}, not AVRO", name, schema.type));
    return MakeWriterSchema(schema.text, schema.references, name, scalar_column_);
  }

  WriterSchemaPtr Parsed(int32_t id, const RegisteredSchemaPtr& registered) {
    const std::lock_guard lock(mutex_);
    if (parsed_.size() > kMaxParsed) parsed_.clear();
    auto& [source, schema] = parsed_[id];
    // What the cache forgot and fetched again is the same, but another object.
    if (source == nullptr) {
      source = registered;
      schema = Make(*registered, fmt::format("schema {} of the registry", id));
    }
    return schema;
  }

  static constexpr size_t kMaxParsed = 10'000;

  const std::shared_ptr<SchemaCache> cache_;
  const std::string subject_;
  const std::string scalar_column_;
  std::mutex mutex_;
  std::unordered_map<int32_t, std::pair<RegisteredSchemaPtr, WriterSchemaPtr>> parsed_;
};

class SingleObjectSchemas final : public WriterSchemas {
 public:
  Status Add(const std::string& text, const std::string& scalar_column) {
    const WriterSchemaPtr schema = MakeWriterSchema(text, {}, "the schema", scalar_column);
    if (schema->schema == nullptr) return Error(ErrorKind::kInvalidArgument, schema->failure.message);
    FIRN_ASSIGN(const avro::SchemaPtr as_written, avro::Schema::Parse(text));
    schemas_[avro::Fingerprint(*as_written)] = schema;
    latest_ = schema;
    return Ok();
  }

  bool Unframe(std::string_view bytes, uint64_t* key, std::string_view* datum,
               Failure* failure) const override {
    const size_t head = kSingleObjectMark.size() + kFingerprintBytes;
    if (!bytes.starts_with(kSingleObjectMark) || bytes.size() < head)
      return NotFramed(bytes, "C3 01 and a schema's fingerprint in eight bytes", failure);
    *key = 0;
    for (size_t i = head; i-- > kSingleObjectMark.size();)
      *key = (*key << 8) | static_cast<uint8_t>(bytes[i]);
    *datum = bytes.substr(head);
    return true;
  }

  Result<WriterSchemaPtr> Find(uint64_t key) override {
    if (const auto found = schemas_.find(key); found != schemas_.end()) return found->second;
    return Failed(reason::kUnknownSchemaId,
                  fmt::format("none of the configured schemas has the fingerprint {:016x}", key));
  }

  Result<WriterSchemaPtr> Latest() override { return latest_; }

 private:
  std::map<uint64_t, WriterSchemaPtr> schemas_;
  WriterSchemaPtr latest_;
};

class FixedSchema final : public WriterSchemas {
 public:
  explicit FixedSchema(WriterSchemaPtr schema) : schema_(std::move(schema)) {}

  bool Unframe(std::string_view bytes, uint64_t* key, std::string_view* datum,
               Failure* /*failure*/) const override {
    *key = 0;
    *datum = bytes;
    return true;
  }
  Result<WriterSchemaPtr> Find(uint64_t /*key*/) override { return schema_; }
  Result<WriterSchemaPtr> Latest() override { return schema_; }

 private:
  const WriterSchemaPtr schema_;
};

}  // namespace

WriterSchemaPtr MakeWriterSchema(std::string_view text, const std::vector<std::string>& references,
                                 std::string_view name, const std::string& scalar_column) {
  auto parsed = avro::Schema::Parse(text, references);
  if (!parsed.ok())
    return Failed(reason::kUnusableSchema, fmt::format("{}: {}", name, parsed.error().message()));
  const bool is_record = (*parsed)->root().kind == avro::Kind::kRecord;
  if (!is_record && scalar_column.empty()) {
    return Failed(reason::kUnusableSchema, fmt::format("{} is of type {}, and rows need a record", name,
                                                       ToString((*parsed)->root().kind)));
  }
  auto schema = std::make_shared<WriterSchema>();
  schema->schema = *std::move(parsed);
  if (!is_record) schema->schema = avro::Schema::RecordOf(scalar_column, schema->schema);
  return schema;
}

std::unique_ptr<WriterSchemas> MakeRegistrySchemas(std::shared_ptr<SchemaCache> cache, std::string subject,
                                                   std::string scalar_column) {
  return std::make_unique<RegistrySchemas>(std::move(cache), std::move(subject), std::move(scalar_column));
}

Result<std::unique_ptr<WriterSchemas>> MakeSingleObjectSchemas(const std::vector<std::string>& texts,
                                                               const std::string& scalar_column) {
  auto schemas = std::make_unique<SingleObjectSchemas>();
  for (const std::string& text : texts) FIRN_TRY(schemas->Add(text, scalar_column));
  return std::unique_ptr<WriterSchemas>(std::move(schemas));
}

Result<std::unique_ptr<WriterSchemas>> MakeFixedSchema(const std::string& text,
                                                       const std::string& scalar_column) {
  WriterSchemaPtr schema = MakeWriterSchema(text, {}, "the schema", scalar_column);
  if (schema->schema == nullptr) return Error(ErrorKind::kInvalidArgument, schema->failure.message);
  return std::unique_ptr<WriterSchemas>(std::make_unique<FixedSchema>(std::move(schema)));
}

}  // namespace firn::decode
