#include "firn/iceberg/scan/store_file.h"

#include <arrow/buffer.h>
#include <arrow/util/future.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "firn/iceberg/scan/arrow_error.h"

namespace firn::iceberg {

StoreFile::StoreFile(std::unique_ptr<store::RandomAccessObject> object) : object_(std::move(object)) {}

StoreFile::~StoreFile() = default;

arrow::Status StoreFile::Close() {
  object_.reset();
  return arrow::Status::OK();
}

arrow::Status StoreFile::Seek(int64_t position) {
  if (position < 0) return arrow::Status::Invalid("seek to a negative position");
  position_ = position;
  return arrow::Status::OK();
}

arrow::Result<int64_t> StoreFile::Read(int64_t length, void* out) {
  ARROW_ASSIGN_OR_RAISE(const int64_t read, ReadAt(position_, length, out));
  position_ += read;
  return read;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> StoreFile::Read(int64_t length) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, length));
  position_ += buffer->size();
  return buffer;
}

arrow::Result<int64_t> StoreFile::GetSize() {
  if (closed()) return arrow::Status::Invalid("the file is closed");
  return object_->size_bytes();
}

arrow::Result<int64_t> StoreFile::ReadAt(int64_t position, int64_t length, void* out) {
  if (closed()) return arrow::Status::Invalid("the file is closed");
  if (position < 0 || length < 0) return arrow::Status::Invalid("read at a negative position or length");
  Result<int64_t> read = object_->ReadAt(position, length, out);
  if (!read.ok()) return ToArrow(read.error());
  return *read;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> StoreFile::ReadAt(int64_t position, int64_t length) {
  ARROW_ASSIGN_OR_RAISE(const int64_t size, GetSize());
  if (position < 0 || length < 0) return arrow::Status::Invalid("read at a negative position or length");
  const int64_t wanted =
      std::max<int64_t>(0, std::min(length, size - position));  // a garbage footer may ask for the moon
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(wanted));
  ARROW_ASSIGN_OR_RAISE(const int64_t read, ReadAt(position, wanted, buffer->mutable_data()));
  if (read < wanted) ARROW_RETURN_NOT_OK(buffer->Resize(read));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Future<std::shared_ptr<arrow::Buffer>> StoreFile::ReadAsync(const arrow::io::IOContext& /*context*/,
                                                                   int64_t position, int64_t length) {
  return arrow::Future<std::shared_ptr<arrow::Buffer>>::MakeFinished(ReadAt(position, length));
}

StoreOutputStream::StoreOutputStream(store::ObjectWriter* writer) : writer_(writer) {}

StoreOutputStream::~StoreOutputStream() = default;

arrow::Status StoreOutputStream::Close() {
  closed_ = true;
  return arrow::Status::OK();
}

arrow::Status StoreOutputStream::Write(const void* data, int64_t length) {
  if (writer_ == nullptr) return arrow::Status::Cancelled("the file was discarded");
  const Status written =
      writer_->Write(std::string_view(static_cast<const char*>(data), static_cast<size_t>(length)));
  if (!written.ok()) return ToArrow(written.error());
  position_ += length;
  return arrow::Status::OK();
}

}  // namespace firn::iceberg
