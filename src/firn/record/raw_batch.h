#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/record/dead_letter.h"
#include "firn/record/position.h"

namespace arrow {
class RecordBatch;
}

namespace firn::record {

/// Bytes past the end of every payload arena that may be read (simdjson's padding).
inline constexpr size_t kArenaPadding = 64;

/// One growing buffer with kArenaPadding readable bytes after the end.
class Arena {
 public:
  /// Appends and returns the offset of the first byte.
  uint32_t Append(std::string_view bytes);
  std::string_view View(uint32_t begin, uint32_t length) const { return {data_.get() + begin, length}; }
  const char* data() const { return data_.get(); }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  void Reserve(size_t bytes);

 private:
  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

/// One payload inside the arena; `length` kNull means there is none (a null key, a tombstone).
struct Slice {
  static constexpr uint32_t kNull = UINT32_MAX;
  uint32_t begin = 0;
  uint32_t length = kNull;
  bool is_null() const { return length == kNull; }
};

/// The file that a batch's records come from.
struct FileOrigin {
  std::string location;
  std::string schema;  ///< what the file tells of its records, in its format's own words (Avro: the writer's
                       ///< schema as JSON; CSV: the header record); empty when it tells nothing
};

/// Records of one source partition in offset order, with owned bytes; at most 1 GiB of them.
/// Covers exactly `range`: every record of the log in [from, to) that exists for our isolation level is in
/// here. Columns are parallel: offsets[i], timestamps_ms[i], keys[i], values[i].
struct RawBatch {
  SourcePartition partition;
  PositionRange range;
  Arena arena;
  std::vector<int64_t> offsets;
  std::vector<int64_t> timestamps_ms;
  std::vector<Slice> keys;
  std::vector<Slice> values;
  /// Only where the source was asked for headers: (record index, name, value), ascending by index.
  struct Header {
    uint32_t record;
    Slice name;
    Slice value;
  };
  std::vector<Header> headers;

  /// Set by sources of files; all records are of this one file.
  std::shared_ptr<const FileOrigin> file;
  /// With `file`: where each record begins, 1-based: the line in formats of lines, else the row.
  std::vector<int64_t> lines;
  /// Formats whose files hold columns (Parquet): record i is row i, under the file's own names and ids; its
  /// value has no bytes.
  std::shared_ptr<arrow::RecordBatch> rows;

  size_t size() const { return offsets.size(); }
  std::string_view value(size_t i) const { return arena.View(values[i].begin, values[i].length); }
  std::string_view key(size_t i) const { return arena.View(keys[i].begin, keys[i].length); }
};

/// What the records' own bytes take: of the arena, or of the rows.
int64_t PayloadBytes(const RawBatch& batch);
/// Key and value of record `i`; 0 in a batch with `rows`.
int64_t RecordBytes(const RawBatch& batch, size_t i);

/// Record `i` of a batch with its original bytes and headers, position and times; what is wrong with it
/// (target_table, stage, reason, message) is the caller's to say.
DeadLetter LetterOf(const RawBatch& raw, size_t i);

/// Copies single records of a batch into others. Records must be copied in ascending order. Not for batches
/// with `rows`.
class RecordCopier {
 public:
  explicit RecordCopier(const RawBatch& from) : from_(from) {}
  /// A batch of the same partition, range and file without records.
  RawBatch Empty() const;
  void Copy(size_t record, RawBatch& to);

 private:
  const RawBatch& from_;
  size_t header_ = 0;  ///< first header of a record that was not copied yet
};

/// Drops the records from index `count` on; the range is the caller's to mend.
void Truncate(RawBatch& raw, size_t count);

}  // namespace firn::record
