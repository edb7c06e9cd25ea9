#include "firn/avro/container.h"

#include <utility>

#include <fmt/format.h>

namespace firn::avro {

namespace {

constexpr std::string_view kMagic("Obj\x01", 4);

/// The schema of a header's key-values: a map of bytes.
struct HeaderSchema {
  HeaderSchema() {
    bytes.kind = Kind::kBytes;
    bytes.min_bytes = 1;
    map.kind = Kind::kMap;
    map.items = &bytes;
  }
  Node bytes;
  Node map;
};

Result<std::map<std::string, std::string>> ReadHeaderMap(BinaryReader& reader) {
  HeaderSchema schema;
  std::map<std::string, std::string> metadata;
  auto read = reader.ReadItems(schema.map, [&]() -> Status {
    FIRN_ASSIGN(auto key, reader.ReadBytes());
    FIRN_ASSIGN(auto value, reader.ReadBytes());
    metadata[std::string(key)] = std::string(value);
    return Ok();
  });
  if (!read.ok()) return std::move(read).error();
  return metadata;
}

std::string Take(std::map<std::string, std::string>& metadata, const char* key) {
  auto it = metadata.find(key);
  if (it == metadata.end()) return {};
  std::string value = std::move(it->second);
  metadata.erase(it);
  return value;
}

/// 16 bytes that depend on all of the seed (two FNV-1a hashes). They need to be unlikely inside data, not
/// secret.
std::string SyncMarker(std::string_view seed) {
  std::string marker;
  for (uint64_t basis : {0xcbf29ce484222325ULL, 0x9ae16a3b2f90404fULL}) {
    uint64_t hash = basis;
    for (char c : seed) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ULL;
    hash ^= hash >> 29;
    for (int i = 0; i < 8; ++i) marker += static_cast<char>(hash >> (8 * i));
  }
  return marker;
}

}  // namespace

Result<ContainerHeader> ReadContainerHeader(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return Error(ErrorKind::kCorrupt, "not an Avro container file");
  BinaryReader reader(bytes.substr(kMagic.size()));
  ContainerHeader header;
  FIRN_ASSIGN(header.metadata, ReadHeaderMap(reader));
  FIRN_ASSIGN(auto sync, reader.ReadFixed(kSyncBytes));
  header.sync = std::string(sync);
  header.size_bytes = kMagic.size() + reader.position();
  std::string codec = Take(header.metadata, "avro.codec");
  if (!codec.empty()) {
    FIRN_ASSIGN(header.codec, ParseCodec(codec));
  }
  header.schema_json = Take(header.metadata, "avro.schema");
  return header;
}

Result<ContainerReader> ContainerReader::Open(std::string_view bytes) {
  FIRN_ASSIGN(ContainerHeader header, ReadContainerHeader(bytes));
  ContainerReader container(bytes, header.size_bytes);
  container.sync_ = std::move(header.sync);
  container.codec_ = header.codec;
  FIRN_ASSIGN(container.schema_, Schema::Parse(header.schema_json));
  container.metadata_ = std::move(header.metadata);
  return container;
}

Result<bool> ContainerReader::NextBlock() {
  if (at_ == bytes_.size()) return false;
  BinaryReader reader(bytes_.substr(at_));
  FIRN_ASSIGN(block_count_, reader.ReadLong());
  FIRN_ASSIGN(auto packed, reader.ReadBytes());
  FIRN_ASSIGN(auto sync, reader.ReadFixed(kSyncBytes));
  if (block_count_ < 0 || sync != sync_)
    return Error(ErrorKind::kCorrupt, fmt::format("Avro container, offset {}: damaged block", at_));
  FIRN_ASSIGN(block_, Decompress(codec_, packed, kMaxBlockBytes));
  at_ += reader.position();
  // Data of a type without content takes no bytes; such a count is not bounded by the data.
  int64_t min_bytes = std::max<int64_t>(1, schema_->root().min_bytes);
  if (block_count_ > static_cast<int64_t>(block_.size()) / min_bytes) {
    return Error(ErrorKind::kCorrupt, fmt::format("Avro container, before offset {}: {} data in {} bytes",
                                                  at_, block_count_, block_.size()));
  }
  return true;
}

Status ContainerReader::CheckBlockEnd(const BinaryReader& reader) const {
  if (reader.remaining() == 0) return Ok();
  return Error(ErrorKind::kCorrupt,
               fmt::format("Avro container, before offset {}: {} bytes left over in a block", at_,
                           reader.remaining()));
}

ContainerWriter::ContainerWriter(std::string_view schema_json,
                                 const std::map<std::string, std::string>& metadata, ContainerOptions options)
    : options_(std::move(options)), sync_(SyncMarker(options_.sync_seed)) {
  out_ = kMagic;
  BinaryWriter writer(out_);
  writer.BeginItems(metadata.size() + 2);
  writer.WriteBytes("avro.schema");
  writer.WriteBytes(schema_json);
  writer.WriteBytes("avro.codec");
  writer.WriteBytes(ToString(options_.codec));
  for (const auto& [key, value] : metadata) {
    writer.WriteBytes(key);
    writer.WriteBytes(value);
  }
  writer.EndItems();
  out_ += sync_;
}

Status ContainerWriter::CloseBlock() {
  if (block_count_ == 0) return Ok();
  FIRN_ASSIGN(auto packed, Compress(options_.codec, block_, options_.level));
  BinaryWriter writer(out_);
  writer.WriteLong(block_count_);
  writer.WriteBytes(packed);
  out_ += sync_;
  block_.clear();
  block_count_ = 0;
  return Ok();
}

Result<std::string> ContainerWriter::Finish() {
  FIRN_TRY(CloseBlock());
  return std::move(out_);
}

}  // namespace firn::avro
