#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"

namespace firn::store {

/// One object as a listing or a HEAD tells it.
struct ObjectInfo {
  std::string location;  ///< full location, as given to the store
  int64_t size_bytes = 0;
  int64_t modified_ms = 0;  ///< Unix epoch, milliseconds
  std::string version;      ///< changes when the bytes change (ETag; mtime+inode+size for local files)
};

enum class IfExists : uint8_t { kFail, kReplace };

/// What has to be under a location when a writer finishes; compared and replaced in one step.
class WriteCondition {
 public:
  WriteCondition(IfExists if_exists)  // NOLINT(google-explicit-constructor): most writers say only this
      : if_exists_(if_exists) {}
  /// Replaces exactly that version (ObjectInfo::version). Another one, or none, is kConflict: nothing was
  /// written. kUnknownOutcome where an answer was lost and what is there now does not tell. kUnsupported by
  /// stores that cannot compare (local files; S3 servers without If-Match).
  static WriteCondition IfVersion(std::string version);

  bool must_be_new() const { return if_exists_ == IfExists::kFail; }
  bool has_version() const { return !version_.empty(); }
  const std::string& version() const { return version_; }

 private:
  IfExists if_exists_;
  std::string version_;  ///< empty: any
};

/// Random access to one immutable object. Thread-safe.
class RandomAccessObject {
 public:
  virtual ~RandomAccessObject() = default;
  virtual int64_t size_bytes() const = 0;
  /// Reads up to `length` bytes at `offset` into `out`; returns the bytes read (fewer only at the end).
  virtual Result<int64_t> ReadAt(int64_t offset, int64_t length, void* out) = 0;
  /// So many bytes that nobody wants are read sooner than a second request is answered: ranges that are no
  /// further apart are better read as one.
  virtual int64_t cheap_gap_bytes() const { return 8 << 10; }
};

/// One object being written. Invisible under its location until Finish returned Ok.
/// Finish or Discard must be called once; the destructor discards. Not thread-safe.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;
  virtual Status Write(std::string_view bytes) = 0;
  virtual int64_t bytes_written() const = 0;
  /// Makes the object durable and visible (local: fsync of file and folder, then link; S3: complete
  /// multipart).
  virtual Status Finish() = 0;
  virtual void Discard() noexcept = 0;
};

/// An object that could not be deleted.
struct NotDeleted {
  std::string location;
  Error why;
};

/// An object store as Iceberg needs it: immutable objects, atomic creation, listing by prefix.
/// Locations are full: `file:///a/b`, `/a/b`, `s3://bucket/key`, `memory://x/y`. Thread-safe.
/// Errors: kNotFound, kAlreadyExists, kConflict (see WriteCondition), kPermissionDenied, kResourceExhausted
/// (disk full), kUnavailable, kTimeout, kIo.
class Store {
 public:
  virtual ~Store() = default;

  virtual Result<std::unique_ptr<ObjectWriter>> Create(const std::string& location,
                                                       WriteCondition condition) = 0;
  virtual Result<std::unique_ptr<RandomAccessObject>> Open(const std::string& location) = 0;
  virtual Result<ObjectInfo> Head(const std::string& location) = 0;
  /// Deleting what does not exist is Ok.
  virtual Status Delete(const std::string& location) = 0;
  /// Deletes each of them, in as few requests as the store knows; goes on after a failure and returns what is
  /// left.
  virtual std::vector<NotDeleted> DeleteMany(std::span<const std::string> locations);
  /// All objects whose location begins with `prefix`, in no promised order. `visit` returns false to stop.
  virtual Status List(const std::string& prefix, const std::function<bool(const ObjectInfo&)>& visit) = 0;

  /// Whole-object conveniences over the above.
  Result<std::string> ReadAll(const std::string& location);
  Status WriteAll(const std::string& location, std::string_view bytes, WriteCondition condition);
};

/// How a catalog's or a table's objects are reached.
struct StoreAccess {
  /// Under Iceberg's FileIO names: `s3.endpoint`, `s3.path-style-access`, `client.region`,
  /// `s3.access-key-id`, `s3.secret-access-key`, `s3.session-token`, `s3.session-token-expires-at-ms`,
  /// `s3.remote-signing-enabled`, `s3.signer.uri`, `s3.sse.type` ... Unknown ones are ignored. Empty: the
  /// process's own credentials.
  std::map<std::string, std::string> properties;
  /// Vended credentials: fresh properties in the place of the old ones, asked for five minutes before those
  /// end.
  std::function<Result<std::map<std::string, std::string>>()> renew;
  /// Headers that authenticate a remote signing request (`s3.signer.uri`).
  std::function<Result<std::map<std::string, std::string>>()> signer_headers;
};

/// Picks a store by a location's scheme. Built in app/ from the registered plug-ins.
class StoreResolver {
 public:
  virtual ~StoreResolver() = default;
  virtual Result<std::shared_ptr<Store>> Resolve(std::string_view location, const StoreAccess& access) = 0;
  Result<std::shared_ptr<Store>> Resolve(std::string_view location) { return Resolve(location, {}); }
};

}  // namespace firn::store
