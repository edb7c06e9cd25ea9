#include "firn/iceberg/scan/arrow_error.h"

#include <parquet/exception.h>

#include <memory>
#include <new>
#include <string>

namespace firn::iceberg {

namespace {

class ErrorDetail : public arrow::StatusDetail {
 public:
  static constexpr char kTypeId[] = "firn::Error";

  explicit ErrorDetail(Error error) : error_(std::move(error)) {}
  const char* type_id() const override { return kTypeId; }
  std::string ToString() const override { return std::string(firn::ToString(error_.kind())); }
  const Error& error() const { return error_; }

 private:
  Error error_;
};

ErrorKind KindOf(arrow::StatusCode code) {
  switch (code) {
    case arrow::StatusCode::OutOfMemory:
    case arrow::StatusCode::CapacityError:
      return ErrorKind::kResourceExhausted;
    case arrow::StatusCode::NotImplemented:
      return ErrorKind::kUnsupported;
    case arrow::StatusCode::Cancelled:
      return ErrorKind::kCancelled;
    case arrow::StatusCode::IOError:
    case arrow::StatusCode::Invalid:
    case arrow::StatusCode::SerializationError:
      return ErrorKind::kCorrupt;
    default:
      return ErrorKind::kInternal;
  }
}

}  // namespace

Error FromArrow(const arrow::Status& status) {
  const auto& detail = status.detail();
  if (detail != nullptr && std::string_view(detail->type_id()) == ErrorDetail::kTypeId) {
    return static_cast<const ErrorDetail&>(*detail).error();
  }
  return {KindOf(status.code()), status.message()};
}

arrow::Status ToArrow(const Error& error) {
  return {arrow::StatusCode::IOError, error.ToString(), std::make_shared<ErrorDetail>(error)};
}

Error FromCurrentException() {
  try {
    throw;
  } catch (const parquet::ParquetStatusException& e) {
    return FromArrow(e.status());
  } catch (const std::bad_alloc&) {
    return {ErrorKind::kResourceExhausted, "out of memory"};
  } catch (const std::exception& e) {
    return {ErrorKind::kCorrupt, e.what()};
  }
}

}  // namespace firn::iceberg
