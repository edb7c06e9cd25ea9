#include "firn/decode/avro/container_format.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "firn/avro/codec.h"
#include "firn/avro/container.h"
#include "firn/avro/cursor.h"
#include "firn/avro/schema.h"

namespace firn::decode {

namespace {

constexpr int64_t kWindowBytes = int64_t{1} << 20;
constexpr int64_t kFirstHeaderBytes = int64_t{64} << 10;
constexpr int64_t kMaxHeaderBytes = int64_t{16} << 20;
constexpr int64_t kMaxBlockHeadBytes = 20;  // two numbers of 64 bits
constexpr int64_t kMaxPackedBytes = static_cast<int64_t>(avro::kMaxBlockBytes);
constexpr size_t kMaxArenaBytes = size_t{1} << 30;

/// Any range of an object, read in large pieces.
class Window {
 public:
  explicit Window(std::shared_ptr<store::RandomAccessObject> object) : object_(std::move(object)) {}

  int64_t size_bytes() const { return object_->size_bytes(); }

  /// Fewer bytes than asked for at the end only. Valid until the next call.
  Result<std::string_view> Get(int64_t offset, int64_t length) {
    length = std::min(length, std::max<int64_t>(0, size_bytes() - offset));
    const auto held = static_cast<int64_t>(bytes_.size());
    if (offset < begin_ || offset + length > begin_ + held) FIRN_TRY(Load(offset, length));
    const auto from = static_cast<size_t>(offset - begin_);
    return std::string_view(bytes_).substr(from, static_cast<size_t>(length));
  }

 private:
  Status Load(int64_t offset, int64_t length) {
    const int64_t wanted = std::min(std::max(length, kWindowBytes), size_bytes() - offset);
    bytes_.resize(static_cast<size_t>(wanted));
    begin_ = offset;
    FIRN_ASSIGN(const int64_t got, object_->ReadAt(offset, wanted, bytes_.data()));
    bytes_.resize(static_cast<size_t>(got));
    if (got < length)
      return Error(ErrorKind::kCorrupt, fmt::format("offset {}: the file has become shorter", offset));
    return Ok();
  }

  std::shared_ptr<store::RandomAccessObject> object_;
  int64_t begin_ = 0;
  std::string bytes_;
};

struct BlockHead {
  int64_t records = 0;
  int64_t data_at = 0;  ///< offset of the packed bytes
  int64_t data_bytes = 0;
  int64_t next_at = 0;  ///< offset of the next block
};

class ContainerFile final : public record::FileReader {
 public:
  ContainerFile(std::string location, std::shared_ptr<store::RandomAccessObject> object)
      : window_(std::move(object)) {
    origin_.location = std::move(location);
  }

  Status Open(const record::FilePosition& start) {
    FIRN_TRY_CTX(ReadHeader(), Place());
    FIRN_TRY_CTX(MoveTo(start), Place());
    return Ok();
  }

  Result<bool> Read(size_t max_records, size_t max_bytes, record::RawBatch* batch) override {
    auto read = ReadBlocks(max_records, max_bytes, batch);
    if (!read.ok()) return std::move(read).error().WithContext(Place());
    return read;
  }

  record::FilePosition position() const override {
    const bool at_block = block_left_ == 0;
    return {.record = record_, .byte = at_block ? next_at_ : 0};
  }

  const record::FileOrigin& origin() const override { return origin_; }

 private:
  std::string Place() const { return "Avro file " + origin_.location; }

  Error Damaged(int64_t offset, std::string_view what) const {
    return {ErrorKind::kCorrupt, fmt::format("offset {}: {}", offset, what)};
  }

  /// The header may be of any reasonable size: more is read until it is whole.
  Status ReadHeader() {
    for (int64_t length = kFirstHeaderBytes;; length *= 2) {
      FIRN_ASSIGN(const std::string_view bytes, window_.Get(0, length));
      Result<avro::ContainerHeader> header = avro::ReadContainerHeader(bytes);
      const bool is_whole = static_cast<int64_t>(bytes.size()) == window_.size_bytes();
      if (!header.ok() && header.error().kind() == ErrorKind::kCorrupt && !is_whole &&
          length < kMaxHeaderBytes && bytes.starts_with("Obj"))
        continue;
      if (!header.ok()) return std::move(header).error();
      header_ = std::move(header).value();
      break;
    }
    FIRN_ASSIGN_CTX(schema_, avro::Schema::Parse(header_.schema_json), "its schema");
    origin_.schema = header_.schema_json;
    next_at_ = static_cast<int64_t>(header_.size_bytes);
    return Ok();
  }

  Status MoveTo(const record::FilePosition& start) {
    if (start.byte > next_at_) {
      FIRN_TRY(CheckBlockBegin(start.byte));
      next_at_ = start.byte;
      record_ = start.record;
      return Ok();
    }
    while (record_ < start.record && next_at_ < window_.size_bytes()) {
      FIRN_ASSIGN(const BlockHead head, ReadHead());
      if (record_ + head.records > start.record) {
        FIRN_TRY(Unpack(head));
        return PassOver(start.record - record_);
      }
      record_ += head.records;
      next_at_ = head.next_at;
    }
    if (record_ == start.record) return Ok();
    return Damaged(next_at_, fmt::format("the file ends after {} records, and {} were read before", record_,
                                         start.record));
  }

  Status CheckBlockBegin(int64_t offset) {
    constexpr auto kMark = static_cast<int64_t>(avro::kSyncBytes);
    if (offset <= window_.size_bytes()) {
      FIRN_ASSIGN(const std::string_view before, window_.Get(offset - kMark, kMark));
      if (before == header_.sync) return Ok();
    }
    return Damaged(offset,
                   "no block begins here any more, so the file has changed since it was read up to here");
  }

  Status PassOver(int64_t records) {
    for (int64_t i = 0; i < records; ++i) {
      if (!cursor_.Skip(schema_->root())) return DamagedRecord();
    }
    record_ += records;
    block_left_ -= records;
    return Ok();
  }

  Error DamagedRecord() const {
    return Damaged(block_at_, fmt::format("the block that begins here is damaged in its record {}: {}",
                                          block_records_ - block_left_ + 1, cursor_.Explain()));
  }

  Result<bool> ReadBlocks(size_t max_records, size_t max_bytes, record::RawBatch* batch) {
    const size_t before = batch->values.size();
    const size_t arena_before = batch->arena.size();
    while (true) {
      if (block_left_ == 0) {
        if (next_at_ >= window_.size_bytes()) return false;
        FIRN_ASSIGN(const BlockHead head, ReadHead());
        const size_t taken = batch->values.size() - before;
        // A block is taken whole where one batch can hold it: then reading may go on at its end.
        const bool fits = static_cast<size_t>(head.records) <= max_records - std::min(taken, max_records);
        if (taken > 0 && !fits) return true;
        FIRN_TRY(Unpack(head));
      }
      if (batch->arena.size() + block_.size() > kMaxArenaBytes) {
        if (batch->values.size() > before) return true;
        return Error(ErrorKind::kResourceExhausted,
                     fmt::format("offset {}: a block of {} bytes", block_at_, block_.size()));
      }
      FIRN_TRY(Take(max_records - (batch->values.size() - before), batch));
      const bool more = block_left_ > 0 || next_at_ < window_.size_bytes();
      if (!more || batch->values.size() - before >= max_records ||
          batch->arena.size() - arena_before >= max_bytes)
        return more;
    }
  }

  Result<BlockHead> ReadHead() {
    FIRN_ASSIGN(const std::string_view bytes, window_.Get(next_at_, kMaxBlockHeadBytes));
    avro::Cursor cursor(bytes);
    BlockHead head;
    if (!cursor.ReadLong(&head.records) || !cursor.ReadLong(&head.data_bytes))
      return Damaged(next_at_, "ends inside the head of a block: the file is cut off or still being written");
    head.data_at = next_at_ + static_cast<int64_t>(cursor.position());
    if (head.records < 0 || head.data_bytes < 0 || head.data_bytes > kMaxPackedBytes)
      return Damaged(next_at_, "no block begins here");
    head.next_at = head.data_at + head.data_bytes + static_cast<int64_t>(avro::kSyncBytes);
    if (head.next_at > window_.size_bytes())
      return Damaged(next_at_,
                     fmt::format("a block of {} bytes begins, but the file ends before: it is cut off or "
                                 "still being written",
                                 head.data_bytes));
    return head;
  }

  Status Unpack(const BlockHead& head) {
    FIRN_ASSIGN(const std::string_view bytes,
                window_.Get(head.data_at, head.data_bytes + static_cast<int64_t>(avro::kSyncBytes)));
    const auto packed = bytes.substr(0, static_cast<size_t>(head.data_bytes));
    if (bytes.substr(packed.size()) != header_.sync)
      return Damaged(head.next_at - static_cast<int64_t>(avro::kSyncBytes),
                     "the mark that ends a block is not there");
    FIRN_ASSIGN_CTX(block_, avro::Decompress(header_.codec, packed, avro::kMaxBlockBytes),
                    fmt::format("offset {}", next_at_));
    const int64_t least = schema_->root().min_bytes;
    const int64_t most =
        least > 0 ? static_cast<int64_t>(block_.size()) / least : avro::Cursor::kMaxFreeItems;
    if (head.records > most)
      return Damaged(next_at_, fmt::format("{} records announced in {} bytes", head.records, block_.size()));
    cursor_ = avro::Cursor(block_);
    block_at_ = next_at_;
    block_records_ = block_left_ = head.records;
    next_at_ = head.next_at;
    return block_left_ == 0 ? CheckBlockEnd() : Ok();
  }

  Status CheckBlockEnd() const {
    if (cursor_.remaining() == 0) return Ok();
    return Damaged(block_at_,
                   fmt::format("{} bytes are left over in the block that begins here", cursor_.remaining()));
  }

  /// Up to `count` records of the open block.
  Status Take(size_t count, record::RawBatch* batch) {
    const size_t from = cursor_.position();
    const auto take = std::min<int64_t>(block_left_, static_cast<int64_t>(count));
    std::vector<size_t> ends;
    ends.reserve(static_cast<size_t>(take));
    for (int64_t i = 0; i < take; ++i, --block_left_) {
      if (!cursor_.Skip(schema_->root())) return DamagedRecord();
      ends.push_back(cursor_.position());
    }
    if (block_left_ == 0) FIRN_TRY(CheckBlockEnd());
    const uint32_t base =
        batch->arena.Append(std::string_view(block_).substr(from, cursor_.position() - from));
    size_t begin = from;
    for (const size_t end : ends) {
      batch->values.push_back(
          {base + static_cast<uint32_t>(begin - from), static_cast<uint32_t>(end - begin)});
      batch->lines.push_back(++record_);
      begin = end;
    }
    return Ok();
  }

  Window window_;
  record::FileOrigin origin_;
  avro::ContainerHeader header_;
  avro::SchemaPtr schema_;
  int64_t next_at_ = 0;  ///< offset of the block behind the open one
  int64_t record_ = 0;   ///< records before the next one
  std::string block_;    ///< the open one, unpacked
  avro::Cursor cursor_;
  int64_t block_at_ = 0;
  int64_t block_records_ = 0;
  int64_t block_left_ = 0;  ///< its records that were not taken yet
};

class AvroContainerFormat final : public record::FileFormat {
 public:
  bool random_access() const override { return true; }

  Result<std::unique_ptr<record::FileReader>> Open(std::string location,
                                                   std::shared_ptr<store::RandomAccessObject> object,
                                                   std::unique_ptr<record::ByteStream> /*stream*/,
                                                   const record::FilePosition& start) override {
    auto file = std::make_unique<ContainerFile>(std::move(location), std::move(object));
    FIRN_TRY(file->Open(start));
    return std::unique_ptr<record::FileReader>(std::move(file));
  }
};

}  // namespace

std::shared_ptr<record::FileFormat> MakeAvroContainerFormat() {
  return std::make_shared<AvroContainerFormat>();
}

}  // namespace firn::decode
