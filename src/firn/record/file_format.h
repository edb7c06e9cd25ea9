#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "firn/base/result.h"
#include "firn/record/raw_batch.h"
#include "firn/store/store.h"

namespace firn::record {

/// A file's bytes from its beginning, decompressed. Not thread-safe.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Up to `length` bytes; 0 at the end. kCorrupt: the compressed data is damaged or cut off.
  virtual Result<size_t> Read(char* out, size_t length) = 0;
  /// Passes over so many bytes; fewer only at the end. Free of reading where the bytes are not compressed.
  virtual Status Skip(int64_t bytes);
};

/// Where reading of a file stands: at the beginning of a record.
struct FilePosition {
  int64_t record = 0;  ///< records before it
  int64_t byte = 0;    ///< of the decompressed file, where the format can begin there; else 0
  int64_t line = 0;    ///< lines before it, in formats of lines
};

/// Splits one file into records. Not thread-safe.
class FileReader {
 public:
  virtual ~FileReader() = default;
  /// Appends records to the batch's arena, values and lines (columns: to `rows`, with null values), at most
  /// this many and about this many bytes; false when the file holds no more. A record that cannot be split
  /// off stands as it is, so that the decoder finds it bad; kCorrupt where nothing behind the damage can be
  /// found.
  virtual Result<bool> Read(size_t max_records, size_t max_bytes, RawBatch* batch) = 0;
  /// Of the next record.
  virtual FilePosition position() const = 0;
  /// For RawBatch::file; complete once Read was called.
  virtual const FileOrigin& origin() const = 0;
};

/// How files of one format are split into records, for sources of files. Thread-safe.
class FileFormat {
 public:
  virtual ~FileFormat() = default;
  /// Whether it reads the object at random places (Parquet, Avro containers) rather than as a stream; such
  /// files cannot be compressed as a whole.
  virtual bool random_access() const = 0;
  /// `stream` stands at the beginning of the file and is null where random_access(). Records before `start`
  /// are passed over.
  virtual Result<std::unique_ptr<FileReader>> Open(std::string location,
                                                   std::shared_ptr<store::RandomAccessObject> object,
                                                   std::unique_ptr<ByteStream> stream,
                                                   const FilePosition& start) = 0;
};

}  // namespace firn::record
