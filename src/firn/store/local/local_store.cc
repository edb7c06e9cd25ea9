#include "firn/store/local/local_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "firn/store/local/local_path.h"

namespace firn::store {

namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = 256 << 10;

ErrorKind KindOf(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
      return ErrorKind::kResourceExhausted;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorKind::kPermissionDenied;
    case ENOENT:
      return ErrorKind::kNotFound;
    case EEXIST:
      return ErrorKind::kAlreadyExists;
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return ErrorKind::kInvalidArgument;
    default:
      return ErrorKind::kIo;
  }
}

std::string RemedyOf(int code, const std::string& path) {
  switch (code) {
    case ENOSPC:
      return fmt::format("Free space on the file system that holds {}.", path);
    case EDQUOT:
      return fmt::format("Raise the disk quota of this user for {} or remove files.", path);
    case EMFILE:
    case ENFILE:
      return "Raise the limit of open files (ulimit -n).";
    case EACCES:
    case EPERM:
      return fmt::format("Give the user that runs Firn (uid {}) the right to it.", ::geteuid());
    case EROFS:
      return "The file system is mounted read-only; mount it writable or choose another place.";
    default:
      return {};
  }
}

Error FromErrno(int code, const char* action, const std::string& path) {
  Error error(KindOf(code),
              fmt::format("cannot {} {}: {}", action, path, std::generic_category().message(code)));
  return std::move(error).WithRemedy(RemedyOf(code, path));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() { Close(); }

  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

Status SyncFolder(const std::string& folder) {
  FileDescriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) return FromErrno(errno, "open the folder", folder);
  // Some file systems cannot sync a folder and need not (EINVAL).
  if (::fsync(fd.get()) != 0 && errno != EINVAL) return FromErrno(errno, "sync the folder", folder);
  return Ok();
}

/// Makes the folder and those above it; each new one is synced into its parent.
Status MakeFolders(const fs::path& folder) {
  if (folder.empty() || ::mkdir(folder.c_str(), 0777) == 0) {
    return folder.has_parent_path() ? SyncFolder(folder.parent_path().string()) : Ok();
  }
  if (errno == EEXIST) return Ok();
  if (errno != ENOENT || folder.parent_path() == folder)
    return FromErrno(errno, "make the folder", folder.string());
  FIRN_TRY(MakeFolders(folder.parent_path()));
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
    return FromErrno(errno, "make the folder", folder.string());
  }
  return SyncFolder(folder.parent_path().string());
}

int64_t ToMs(const timespec& time) { return int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000; }

ObjectInfo ToInfo(std::string location, const struct stat& info) {
  auto version = fmt::format("{:x}-{:x}-{:x}-{:x}", info.st_ino, info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
                             info.st_size);
  return {std::move(location), info.st_size, ToMs(info.st_mtim), std::move(version)};
}

class LocalObject final : public RandomAccessObject {
 public:
  LocalObject(std::string path, FileDescriptor fd, int64_t size_bytes)
      : path_(std::move(path)), fd_(std::move(fd)), size_bytes_(size_bytes) {}

  int64_t size_bytes() const override { return size_bytes_; }

  Result<int64_t> ReadAt(int64_t offset, int64_t length, void* out) override {
    if (offset < 0 || length < 0) return Error(ErrorKind::kInvalidArgument, path_ + ": negative read range");
    int64_t done = 0;
    while (done < length) {
      ssize_t got = ::pread(fd_.get(), static_cast<char*>(out) + done, static_cast<size_t>(length - done),
                            offset + done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return FromErrno(errno, "read", path_);
      if (got == 0) break;
      done += got;
    }
    return done;
  }

 private:
  std::string path_;
  FileDescriptor fd_;
  int64_t size_bytes_;
};

class LocalWriter final : public ObjectWriter {
 public:
  LocalWriter(std::string path, std::string temporary, FileDescriptor fd, bool must_be_new)
      : path_(std::move(path)),
        temporary_(std::move(temporary)),
        fd_(std::move(fd)),
        must_be_new_(must_be_new) {}
  ~LocalWriter() override { Discard(); }
  LocalWriter(const LocalWriter&) = delete;
  LocalWriter& operator=(const LocalWriter&) = delete;

  Status Write(std::string_view bytes) override {
    FIRN_CHECK(!done_, "Write after Finish or Discard");
    bytes_written_ += static_cast<int64_t>(bytes.size());
    if (buffer_.size() + bytes.size() <= kBufferBytes) {
      buffer_ += bytes;
      return Ok();
    }
    FIRN_TRY(Flush());
    if (bytes.size() >= kBufferBytes) return WriteThrough(bytes);
    buffer_ += bytes;
    return Ok();
  }

  int64_t bytes_written() const override { return bytes_written_; }

  Status Finish() override {
    FIRN_CHECK(!done_, "Finish after Finish or Discard");
    auto published = Publish();
    if (!published.ok()) Discard();
    done_ = true;
    return published;
  }

  void Discard() noexcept override {
    if (done_) return;
    done_ = true;
    fd_.Close();
    if (!named_) ::unlink(temporary_.c_str());
  }

 private:
  Status Publish() {
    FIRN_TRY(Flush());
    if (::fsync(fd_.get()) != 0) return FromErrno(errno, "sync", path_);
    fd_.Close();
    FIRN_TRY(must_be_new_ ? NameIfFree() : NameAnyway());
    named_ = true;
    return SyncFolder(fs::path(path_).parent_path().string());
  }

  Status NameAnyway() {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) return FromErrno(errno, "create", path_);
    return Ok();
  }

  Status NameIfFree() {
    if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0)
      return Ok();
    // File systems without RENAME_NOREPLACE answer EINVAL; a hard link is as exclusive.
    if (errno != EINVAL && errno != ENOSYS) return FromErrno(errno, "create", path_);
    if (::link(temporary_.c_str(), path_.c_str()) != 0) return FromErrno(errno, "create", path_);
    ::unlink(temporary_.c_str());
    return Ok();
  }

  Status Flush() {
    FIRN_TRY(WriteThrough(buffer_));
    buffer_.clear();
    return Ok();
  }

  Status WriteThrough(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t wrote = ::write(fd_.get(), bytes.data(), bytes.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) return FromErrno(errno, "write", path_);
      bytes.remove_prefix(static_cast<size_t>(wrote));
    }
    return Ok();
  }

  std::string path_;
  std::string temporary_;
  FileDescriptor fd_;
  bool must_be_new_;
  std::string buffer_;
  int64_t bytes_written_ = 0;
  bool named_ = false;
  bool done_ = false;
};

std::string TemporaryName(const fs::path& path) {
  static std::atomic<uint64_t> counter{0};
  // Long names (partition values) must not push the temporary one over the limit of 255 bytes.
  std::string name = path.filename().string().substr(0, 180);
  return (path.parent_path() / fmt::format(".{}.{}-{}.tmp", name, ::getpid(), counter.fetch_add(1))).string();
}

}  // namespace

Result<std::unique_ptr<ObjectWriter>> LocalStore::Create(const std::string& location,
                                                         WriteCondition condition) {
  if (condition.has_version()) {
    return Error(ErrorKind::kUnsupported,
                 location + ": a file system cannot compare a file's version and replace it in one step");
  }
  FIRN_ASSIGN(auto local, ParseLocalLocation(location));
  fs::path path(local.path);
  if (!path.has_filename())
    return Error(ErrorKind::kInvalidArgument, location + ": names a folder, not a file");
  FIRN_TRY(MakeFolders(path.parent_path()));
  struct stat info{};
  if (condition.must_be_new() && ::lstat(local.path.c_str(), &info) == 0)
    return FromErrno(EEXIST, "create", local.path);
  // The process id in the name may be reused after a crash, so a left-over of that name is simply
  // overwritten.
  std::string temporary = TemporaryName(path);
  FileDescriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (fd.get() < 0) return FromErrno(errno, "create", local.path);
  return std::unique_ptr<ObjectWriter>(std::make_unique<LocalWriter>(local.path, std::move(temporary),
                                                                     std::move(fd), condition.must_be_new()));
}

Result<std::unique_ptr<RandomAccessObject>> LocalStore::Open(const std::string& location) {
  FIRN_ASSIGN(auto local, ParseLocalLocation(location));
  FileDescriptor fd(::open(local.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return FromErrno(errno, "open", local.path);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return FromErrno(errno, "open", local.path);
  if (!S_ISREG(info.st_mode))
    return Error(ErrorKind::kInvalidArgument, local.path + " is not a regular file");
  return std::unique_ptr<RandomAccessObject>(
      std::make_unique<LocalObject>(local.path, std::move(fd), info.st_size));
}

Result<ObjectInfo> LocalStore::Head(const std::string& location) {
  FIRN_ASSIGN(auto local, ParseLocalLocation(location));
  struct stat info{};
  if (::stat(local.path.c_str(), &info) != 0) return FromErrno(errno, "look at", local.path);
  if (!S_ISREG(info.st_mode)) return FromErrno(ENOENT, "look at", local.path);
  return ToInfo(location, info);
}

Status LocalStore::Delete(const std::string& location) {
  FIRN_ASSIGN(auto local, ParseLocalLocation(location));
  if (::unlink(local.path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return Ok();
  return FromErrno(errno, "delete", local.path);
}

namespace {

/// Depth-first over one folder. Returns false when the visitor wants no more.
Result<bool> Walk(const std::string& folder, const LocalLocation& prefix,
                  const std::function<bool(const ObjectInfo&)>& visit) {
  std::error_code failed;
  fs::directory_iterator entries(folder, failed);
  if (failed == std::errc::no_such_file_or_directory || failed == std::errc::not_a_directory) return true;
  if (failed) return FromErrno(failed.value(), "list", folder);
  for (; entries != fs::directory_iterator(); entries.increment(failed)) {
    std::string path = entries->path().string();
    if (!path.starts_with(prefix.path) && !prefix.path.starts_with(path + "/")) continue;
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) continue;  // gone since
    bool more = true;
    if (S_ISDIR(info.st_mode)) {
      FIRN_ASSIGN(more, Walk(path, prefix, visit));
    } else if (S_ISREG(info.st_mode) && path.starts_with(prefix.path)) {
      more = visit(ToInfo(prefix.scheme + path, info));
    }
    if (!more) return false;
  }
  if (failed) return FromErrno(failed.value(), "list", folder);
  return true;
}

}  // namespace

Status LocalStore::List(const std::string& prefix, const std::function<bool(const ObjectInfo&)>& visit) {
  FIRN_ASSIGN(auto local, ParseLocalLocation(prefix));
  auto walked = Walk(local.path.substr(0, local.path.rfind('/') + 1), local, visit);
  if (!walked.ok()) return std::move(walked).error();
  return Ok();
}

}  // namespace firn::store
