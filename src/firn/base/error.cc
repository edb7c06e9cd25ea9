#include "firn/base/error.h"

#include <utility>

namespace firn {

namespace {

ErrorDomain DefaultDomain(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInternal:
      return ErrorDomain::kInternal;
    case ErrorKind::kInvalidArgument:
    case ErrorKind::kNotFound:
    case ErrorKind::kAlreadyExists:
    case ErrorKind::kUnsupported:
    case ErrorKind::kDataLoss:
      return ErrorDomain::kUser;
    default:
      return ErrorDomain::kExternal;
  }
}

RetryHint DefaultRetry(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUnavailable:
    case ErrorKind::kTimeout:
    case ErrorKind::kConflict:
      return RetryHint::kYes;
    default:
      return RetryHint::kNo;
  }
}

}  // namespace

std::string_view ToString(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return "invalid argument";
    case ErrorKind::kNotFound:
      return "not found";
    case ErrorKind::kAlreadyExists:
      return "already exists";
    case ErrorKind::kConflict:
      return "conflict";
    case ErrorKind::kPermissionDenied:
      return "permission denied";
    case ErrorKind::kUnavailable:
      return "unavailable";
    case ErrorKind::kTimeout:
      return "timeout";
    case ErrorKind::kUnknownOutcome:
      return "unknown outcome";
    case ErrorKind::kCorrupt:
      return "corrupt";
    case ErrorKind::kUnsupported:
      return "unsupported";
    case ErrorKind::kResourceExhausted:
      return "resource exhausted";
    case ErrorKind::kDataLoss:
      return "data loss";
    case ErrorKind::kCancelled:
      return "cancelled";
    case ErrorKind::kIo:
      return "i/o error";
    case ErrorKind::kInternal:
      return "internal error";
  }
  return "?";
}

std::string_view ToString(ErrorDomain domain) {
  switch (domain) {
    case ErrorDomain::kUser:
      return "user";
    case ErrorDomain::kExternal:
      return "external";
    case ErrorDomain::kInternal:
      return "internal";
  }
  return "?";
}

Error::Error(ErrorKind kind, std::string message)
    : data_(std::make_unique<Data>(
          Data{kind, DefaultDomain(kind), DefaultRetry(kind), 0, std::move(message), {}, {}, {}})) {}

Error::Error(const Error& other) : data_(std::make_unique<Data>(*other.data_)) {}

Error& Error::operator=(const Error& other) {
  if (this != &other) data_ = std::make_unique<Data>(*other.data_);
  return *this;
}

Error&& Error::WithDomain(ErrorDomain domain) && {
  data_->domain = domain;
  return std::move(*this);
}

Error&& Error::WithRetry(RetryHint retry) && {
  data_->retry = retry;
  return std::move(*this);
}

Error&& Error::WithHttpStatus(int status) && {
  data_->http_status = status;
  return std::move(*this);
}

Error&& Error::WithServiceType(std::string type) && {
  data_->service_type = std::move(type);
  return std::move(*this);
}

Error&& Error::WithRemedy(std::string remedy) && {
  data_->remedy = std::move(remedy);
  return std::move(*this);
}

Error&& Error::WithContext(std::string_view context) && {
  AddContext(context);
  return std::move(*this);
}

void Error::AddContext(std::string_view context) {
  if (context.empty()) return;
  data_->context =
      data_->context.empty() ? std::string(context) : std::string(context) + ": " + data_->context;
}

std::string Error::ToString() const {
  std::string text = data_->context.empty() ? data_->message : data_->context + ": " + data_->message;
  if (data_->remedy.empty()) return text;
  if (!text.ends_with('.')) text += '.';
  return text + ' ' + data_->remedy;
}

}  // namespace firn
