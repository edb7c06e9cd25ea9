#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/avro/binary.h"
#include "firn/decode/avro/avro_decoder.h"
#include "firn/decode/avro/infer_avro.h"
#include "firn/decode/avro/writer_schemas.h"
#include "firn/decode/decode_test_support.h"

namespace firn::decode::testing {

using Encode = std::function<void(avro::BinaryWriter&)>;

inline std::string Datum(const Encode& encode) {
  std::string bytes;
  avro::BinaryWriter writer(bytes);
  encode(writer);
  return bytes;
}

/// A record schema with these fields (JSON objects, comma between them).
inline std::string RecordOf(const std::string& fields) {
  return R"({"type":"record","name":"Row","fields":[)" + fields + "]}";
}

inline std::shared_ptr<WriterSchemas> Fixed(const std::string& schema) {
  auto schemas = MakeFixedSchema(schema);
  EXPECT_TRUE(schemas.ok()) << schemas.error().ToString();
  return std::move(schemas).value();
}

/// Records are a digit, which is the schema's number, and the datum. What is not there is away until it is.
class NumberedSchemas final : public WriterSchemas {
 public:
  explicit NumberedSchemas(std::vector<std::string> texts) : texts_(std::move(texts)) {}

  bool Unframe(std::string_view bytes, uint64_t* key, std::string_view* datum,
               Failure* failure) const override {
    if (bytes.empty() || bytes[0] < '0' || bytes[0] > '9') {
      *failure = {"unframed_avro", "no number"};
      return false;
    }
    *key = static_cast<uint64_t>(bytes[0] - '0');
    *datum = bytes.substr(1);
    return true;
  }
  Result<WriterSchemaPtr> Find(uint64_t key) override {
    if (key >= texts_.size()) return Error(ErrorKind::kUnavailable, "the registry is away");
    return MakeWriterSchema(texts_[key], {}, "schema " + std::to_string(key));
  }
  Result<WriterSchemaPtr> Latest() override { return Error(ErrorKind::kNotFound, "none"); }

  std::vector<std::string> texts_;
};

inline std::shared_ptr<NumberedSchemas> Numbered(std::vector<std::string> texts) {
  return std::make_shared<NumberedSchemas>(std::move(texts));
}

inline DecodeResult DecodeAvro(const BoundSchema& bound, std::shared_ptr<WriterSchemas> schemas,
                               const std::vector<std::optional<std::string>>& values) {
  return DecodeWith(MakeAvroDecoder(bound, std::move(schemas)), MakeRaw(values));
}

inline std::vector<record::RawBatch> Sample(const std::vector<std::optional<std::string>>& values) {
  std::vector<record::RawBatch> sample;
  sample.push_back(MakeRaw(values));
  return sample;
}

inline std::string Golden(const std::string& name) {
  std::ifstream file(std::string(FIRN_SOURCE_DIR) + "/src/firn/decode/avro/testdata/" + name,
                     std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace firn::decode::testing
