#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace firn {

/// What went wrong, at the granularity at which callers decide. Words for people are in Error::message.
enum class ErrorKind : uint8_t {
  kInvalidArgument,    ///< input (a file, a key, a value, a call) is wrong
  kNotFound,           ///< the named thing does not exist
  kAlreadyExists,      ///< the thing to be created exists
  kConflict,           ///< a compare-and-set lost; refresh and try again
  kPermissionDenied,   ///< not allowed or not authenticated
  kUnavailable,        ///< the other side cannot answer now
  kTimeout,            ///< no answer in time; for writes see kUnknownOutcome
  kUnknownOutcome,     ///< a write may or may not have happened
  kCorrupt,            ///< bytes that do not follow their format
  kUnsupported,        ///< valid, but nothing we do
  kResourceExhausted,  ///< disk, memory, descriptors or quota are used up
  kDataLoss,           ///< going on would lose or double rows (exit code 3)
  kCancelled,          ///< stopped on request
  kIo,                 ///< the operating system reported an I/O error
  kInternal,           ///< our own defect
};

/// Who has to act.
enum class ErrorDomain : uint8_t { kUser, kExternal, kInternal };

/// Whether the same call can succeed later without anyone changing anything.
enum class RetryHint : uint8_t { kNo, kYes };

std::string_view ToString(ErrorKind kind);
std::string_view ToString(ErrorDomain domain);

/// The one error type. Cheap to move (one pointer); always holds a kind and a message.
/// Context is added on the way up: `error.AddContext("table travel.flights")` prints before the message.
class [[nodiscard]] Error {
 public:
  Error(ErrorKind kind, std::string message);
  Error(const Error& other);
  Error& operator=(const Error& other);
  Error(Error&&) noexcept = default;
  Error& operator=(Error&&) noexcept = default;
  ~Error() = default;

  ErrorKind kind() const { return data_->kind; }
  ErrorDomain domain() const { return data_->domain; }
  RetryHint retry() const { return data_->retry; }
  const std::string& message() const { return data_->message; }
  /// HTTP status of the answer that caused this, 0 when there was none.
  int http_status() const { return data_->http_status; }
  /// Error type name a catalog service gave (`CommitFailedException` ...), empty when there was none.
  const std::string& service_type() const { return data_->service_type; }
  /// What the user can do, one sentence; empty when the message says all.
  const std::string& remedy() const { return data_->remedy; }

  Error&& WithDomain(ErrorDomain domain) &&;
  Error&& WithRetry(RetryHint retry) &&;
  Error&& WithHttpStatus(int status) &&;
  Error&& WithServiceType(std::string type) &&;
  Error&& WithRemedy(std::string remedy) &&;
  Error&& WithContext(std::string_view context) &&;
  void AddContext(std::string_view context);

  /// "<context>: <message>. <remedy>" for people.
  std::string ToString() const;

 private:
  struct Data {
    ErrorKind kind;
    ErrorDomain domain;
    RetryHint retry;
    int http_status = 0;
    std::string message;
    std::string context;
    std::string remedy;
    std::string service_type;
  };
  std::unique_ptr<Data> data_;
};

}  // namespace firn
