#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "firn/avro/schema.h"
#include "firn/base/result.h"
#include "firn/decode/row_decoder.h"
#include "firn/decode/schema_registry/schema_cache.h"

namespace firn::decode {

/// What the records of one key were written with, or why nothing can be made of them.
struct WriterSchema {
  avro::SchemaPtr schema;  ///< a record at the top; null: see failure
  Failure failure;
};
using WriterSchemaPtr = std::shared_ptr<const WriterSchema>;

/// A schema that came as text; its failure is `unusable_schema`, `name` (schema 7 of the registry) says
/// whose. One that is no record (keys are plain strings and numbers) becomes the only field of one, by the
/// name of `scalar_column`; without that name it is of no use.
WriterSchemaPtr MakeWriterSchema(std::string_view text, const std::vector<std::string>& references,
                                 std::string_view name, const std::string& scalar_column = {});

/// Takes records out of their frames and knows the schemas that the frames name. Shared by lanes:
/// thread-safe.
class WriterSchemas {
 public:
  virtual ~WriterSchemas() = default;
  /// Splits a record's bytes into the key of its schema and the datum; false with `failure` set when they are
  /// not framed.
  virtual bool Unframe(std::string_view bytes, uint64_t* key, std::string_view* datum,
                       Failure* failure) const = 0;
  /// Of a key that Unframe gave. Retriable: ask again after a pause.
  virtual Result<WriterSchemaPtr> Find(uint64_t key) = 0;
  /// The schema to make a table with where no record tells; kNotFound when there is none.
  virtual Result<WriterSchemaPtr> Latest() = 0;
};

/// Confluent's wire format: a zero byte, the schema's id in four bytes, the datum. `subject` (may be empty):
/// whose newest version Latest gives. `scalar_column`, here and below: as for MakeWriterSchema.
std::unique_ptr<WriterSchemas> MakeRegistrySchemas(std::shared_ptr<SchemaCache> cache, std::string subject,
                                                   std::string scalar_column = {});
/// Single-object encoding: C3 01, the schema's fingerprint, the datum. kInvalidArgument for texts that are no
/// schema.
Result<std::unique_ptr<WriterSchemas>> MakeSingleObjectSchemas(const std::vector<std::string>& texts,
                                                               const std::string& scalar_column = {});
/// Bare data, all of one schema.
Result<std::unique_ptr<WriterSchemas>> MakeFixedSchema(const std::string& text,
                                                       const std::string& scalar_column = {});

}  // namespace firn::decode
