#include "firn/cli/output.h"

#include <cerrno>
#include <cstring>

#include <sys/ioctl.h>
#include <unistd.h>

namespace firn::cli {

namespace {
constexpr size_t kBufferBytes = size_t{64} << 10;
constexpr int kDefaultWidth = 80;
}  // namespace

FileOutput::~FileOutput() { Ignore(Flush()); }  // whoever cares called Flush before

void FileOutput::Write(std::string_view text) {
  if (closed_ || error_ != 0) return;
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes) WriteOut();
}

Status FileOutput::Flush() {
  WriteOut();
  if (error_ == 0) return Ok();
  const ErrorKind kind =
      error_ == ENOSPC || error_ == EDQUOT ? ErrorKind::kResourceExhausted : ErrorKind::kIo;
  return Error(kind, std::string("cannot write the output: ") + std::strerror(error_));
}

void FileOutput::WriteOut() {
  std::string_view rest = buffer_;
  while (!rest.empty() && !closed_ && error_ == 0) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      closed_ = true;
    } else if (errno != EINTR && errno != EAGAIN) {
      error_ = errno;
    }
  }
  buffer_.clear();
}

bool FileOutput::is_terminal() const { return ::isatty(descriptor_) == 1; }

int FileOutput::width() const {
  winsize size{};
  if (::ioctl(descriptor_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultWidth;
  return size.ws_col;
}

}  // namespace firn::cli
