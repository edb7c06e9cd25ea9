#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "firn/avro/binary.h"
#include "firn/avro/codec.h"
#include "firn/avro/schema.h"
#include "firn/base/result.h"

namespace firn::avro {

/// What stands before the blocks of a container file.
struct ContainerHeader {
  std::string schema_json;
  Codec codec = Codec::kNull;
  std::map<std::string, std::string> metadata;  ///< the key-values but `avro.schema` and `avro.codec`
  std::string sync;                             ///< ends each block
  size_t size_bytes = 0;
};
inline constexpr size_t kSyncBytes = 16;
/// No block may unpack to more.
inline constexpr size_t kMaxBlockBytes = size_t{256} << 20;

/// Out of the beginning of a file. kCorrupt for damage (or too few bytes), kUnsupported for an unknown codec.
Result<ContainerHeader> ReadContainerHeader(std::string_view bytes);

/// Reads an object container file that is in memory ("Object Container Files" of the specification). `bytes`
/// must outlive it.
class ContainerReader {
 public:
  /// Reads header and schema. kCorrupt for damage, kUnsupported for an unknown codec.
  static Result<ContainerReader> Open(std::string_view bytes);

  const Schema& schema() const { return *schema_; }
  /// The file's key-values but `avro.schema` and `avro.codec`.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  Codec codec() const { return codec_; }

  /// Calls `each` (Status(BinaryReader&)) once per datum, the reader standing at it; it must read exactly the
  /// datum.
  template <typename Each>
  Status ForEach(Each&& each) {
    while (true) {
      FIRN_ASSIGN(bool more, NextBlock());
      if (!more) return Ok();
      BinaryReader reader(block_);
      for (int64_t i = 0; i < block_count_; ++i) FIRN_TRY(each(reader));
      FIRN_TRY(CheckBlockEnd(reader));
    }
  }

 private:
  ContainerReader(std::string_view bytes, size_t at) : bytes_(bytes), at_(at) {}
  /// Unpacks the next block; false at the end of the file.
  Result<bool> NextBlock();
  Status CheckBlockEnd(const BinaryReader& reader) const;

  std::string_view bytes_;
  size_t at_;
  SchemaPtr schema_;
  std::map<std::string, std::string> metadata_;
  Codec codec_ = Codec::kNull;
  std::string sync_;
  std::string block_;
  int64_t block_count_ = 0;
};

struct ContainerOptions {
  Codec codec = Codec::kDeflate;
  std::optional<int32_t> level = std::nullopt;
  size_t block_bytes = 64'000;  ///< uncompressed size at which a block is closed
  /// Seed of the 16 bytes between blocks; any text that differs from file to file (its location).
  std::string sync_seed;
};

/// Writes an object container file into memory.
class ContainerWriter {
 public:
  /// `schema_json` goes into the header as it is, beside `metadata`.
  ContainerWriter(std::string_view schema_json, const std::map<std::string, std::string>& metadata,
                  ContainerOptions options);

  /// Writes one datum: `encode(BinaryWriter&)`.
  template <typename Encode>
  Status Append(Encode&& encode) {
    BinaryWriter writer(block_);
    encode(writer);
    ++block_count_;
    return block_.size() >= options_.block_bytes ? CloseBlock() : Ok();
  }

  /// Bytes so far, without the open block.
  size_t size_bytes() const { return out_.size(); }
  Result<std::string> Finish();

 private:
  Status CloseBlock();

  ContainerOptions options_;
  std::string sync_;
  std::string out_;
  std::string block_;
  int64_t block_count_ = 0;
};

}  // namespace firn::avro
