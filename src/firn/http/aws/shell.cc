#include "firn/http/aws/shell.h"

#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "firn/runtime/clock.h"

extern char** environ;

namespace firn::http::aws {

namespace {

constexpr size_t kMaxOutputBytes = 1 << 20;

Error FromErrno(const char* what, int code) {
  return Error(ErrorKind::kIo, fmt::format("{}: {}", what, std::generic_category().message(code)));
}

/// A child in a process group of its own; killed with it and waited for when this goes out of scope.
class Child {
 public:
  ~Child() {
    if (pid_ > 0) {
      ::kill(-pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    if (output_ >= 0) ::close(output_);
  }

  Status Start(const std::string& command) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return FromErrno("cannot make a pipe", errno);
    output_ = ends[0];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);  // our threads block the stop signals
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    std::string shell = "sh";
    std::string option = "-c";
    std::string text = command;
    char* arguments[] = {shell.data(), option.data(), text.data(), nullptr};
    const int code = ::posix_spawn(&pid_, "/bin/sh", &files, &attributes, arguments, environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
    ::close(ends[1]);
    if (code == 0) return Ok();
    pid_ = -1;
    return FromErrno("cannot start /bin/sh", code);
  }

  /// Empty at the end of the output.
  Result<std::string> Read(int timeout_ms) {
    pollfd waiting{output_, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, timeout_ms);
    if (ready == 0) return Error(ErrorKind::kTimeout, "the command takes too long");
    if (ready < 0 && errno != EINTR) return FromErrno("cannot wait for the command", errno);
    std::string piece(4096, '\0');
    const ssize_t got = ::read(output_, piece.data(), piece.size());
    if (got < 0) return FromErrno("cannot read from the command", errno);
    piece.resize(static_cast<size_t>(got));
    return piece;
  }

  Status Wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Ok();
    if (WIFEXITED(status))
      return Error(ErrorKind::kIo, fmt::format("the command ended with exit code {}", WEXITSTATUS(status)));
    return Error(ErrorKind::kIo, fmt::format("the command was ended by signal {}", WTERMSIG(status)));
  }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
};

}  // namespace

Result<std::string> RunInShell(const std::string& command, int64_t timeout_ms) {
  constexpr int64_t kNsPerMs = 1'000'000;
  const runtime::Clock& clock = runtime::SystemClock();
  const int64_t end_ns = clock.MonotonicNs() + timeout_ms * kNsPerMs;
  Child child;
  FIRN_TRY(child.Start(command));
  std::string output;
  while (true) {
    const int64_t left_ms = (end_ns - clock.MonotonicNs()) / kNsPerMs;
    FIRN_ASSIGN(const std::string piece, child.Read(static_cast<int>(std::max<int64_t>(left_ms, 0))));
    if (piece.empty()) break;
    output += piece;
    if (output.size() > kMaxOutputBytes) return Error(ErrorKind::kIo, "the command says more than 1 MiB");
  }
  FIRN_TRY(child.Wait());
  return output;
}

}  // namespace firn::http::aws
