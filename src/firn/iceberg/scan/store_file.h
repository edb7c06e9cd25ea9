#pragma once

#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <cstdint>
#include <memory>

#include "firn/store/store.h"

namespace firn::iceberg {

/// One object of a store as Arrow reads files. Reads happen on the calling thread; ReadAsync answers a
/// finished future, so that Parquet's coalescing of column chunks (pre-buffering) makes one request of
/// neighbouring ranges without threads of Arrow's own. Thread-safe as far as RandomAccessObject is, but for
/// Seek/Tell/Read.
class StoreFile : public arrow::io::RandomAccessFile {
 public:
  explicit StoreFile(std::unique_ptr<store::RandomAccessObject> object);
  ~StoreFile() override;

  arrow::Status Close() override;
  bool closed() const override { return object_ == nullptr; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Seek(int64_t position) override;
  arrow::Result<int64_t> Read(int64_t length, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t length) override;
  arrow::Result<int64_t> GetSize() override;
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t length, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t length) override;
  using arrow::io::RandomAccessFile::ReadAsync;
  arrow::Future<std::shared_ptr<arrow::Buffer>> ReadAsync(const arrow::io::IOContext& context,
                                                          int64_t position, int64_t length) override;

 private:
  std::unique_ptr<store::RandomAccessObject> object_;
  int64_t position_ = 0;
};

/// One object being written, as Arrow writes files. Close does not finish the object: its owner decides
/// (Finish or Discard). After Detach every write fails, so that a Parquet writer that is thrown away cannot
/// touch the object any more.
class StoreOutputStream : public arrow::io::OutputStream {
 public:
  explicit StoreOutputStream(store::ObjectWriter* writer);
  ~StoreOutputStream() override;

  void Detach() { writer_ = nullptr; }
  arrow::Status Close() override;
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Write(const void* data, int64_t length) override;
  using arrow::io::OutputStream::Write;

 private:
  store::ObjectWriter* writer_;
  int64_t position_ = 0;
  bool closed_ = false;
};

}  // namespace firn::iceberg
