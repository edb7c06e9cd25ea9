#pragma once

#include <string>
#include <string_view>

#include "firn/base/result.h"

namespace firn::cli {

/// Where a command prints. A reader that went away (a closed pipe) is no error: what follows is dropped,
/// `closed()` tells commands with long output to stop, and the exit code stays what it would have been.
class Output {
 public:
  virtual ~Output() = default;
  virtual void Write(std::string_view text) = 0;
  /// Hands everything written so far to the reader. An error is a full disk or the like, never a closed pipe.
  virtual Status Flush() = 0;
  virtual bool is_terminal() const = 0;
  virtual int width() const = 0;  ///< columns of the terminal; 80 where there is none
  virtual bool closed() const = 0;
};

/// A file descriptor of the process, buffered; not owned.
class FileOutput final : public Output {
 public:
  explicit FileOutput(int descriptor) : descriptor_(descriptor) {}
  ~FileOutput() override;
  void Write(std::string_view text) override;
  Status Flush() override;
  bool is_terminal() const override;
  int width() const override;
  bool closed() const override { return closed_; }

 private:
  void WriteOut();

  const int descriptor_;
  std::string buffer_;
  bool closed_ = false;
  int error_ = 0;
};

/// Keeps what was written (tests, and commands that run another one).
class StringOutput final : public Output {
 public:
  explicit StringOutput(bool terminal = false, int width = 80) : terminal_(terminal), width_(width) {}
  void Write(std::string_view text) override { text_ += text; }
  Status Flush() override { return Ok(); }
  bool is_terminal() const override { return terminal_; }
  int width() const override { return width_; }
  bool closed() const override { return false; }
  const std::string& text() const { return text_; }

 private:
  const bool terminal_;
  const int width_;
  std::string text_;
};

}  // namespace firn::cli
