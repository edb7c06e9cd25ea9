#include "firn/base/fatal.h"

#include <execinfo.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>

#include "firn/base/version.h"

namespace firn {

namespace {

constexpr std::array kFatalSignals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitizerOwnsSignalStack = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitizerOwnsSignalStack = true;
#else
constexpr bool kSanitizerOwnsSignalStack = false;
#endif
#else
constexpr bool kSanitizerOwnsSignalStack = false;
#endif

constexpr size_t kStackBytes = size_t{64} << 10U;

/// Set by a failed check or terminate handler, whose abort needs no second report.
std::atomic<bool> reported{false};

void Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void WriteHex(uintptr_t value) {
  std::array<char, 2 * sizeof(value)> digits{};
  size_t at = digits.size();
  do {
    digits[--at] = "0123456789abcdef"[value & 15U];
    value >>= 4U;
  } while (value != 0);
  Write("0x");
  Write({digits.data() + at, digits.size() - at});
}

std::string_view SignalName(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGILL:
      return "SIGILL";
    case SIGFPE:
      return "SIGFPE";
    case SIGABRT:
      return "SIGABRT";
    default:
      return "signal";
  }
}

void WriteBacktrace() {
  std::array<void*, 64> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
}

void WriteHeader() {
  std::array<char, 17> name{};
  prctl(PR_GET_NAME, name.data());
  Write("*** firn ");
  Write(Version());
  Write(" git ");
  Write(GitHash());
  Write(" build id ");
  Write(BuildId());
  Write(" thread ");
  Write(name.data());
  Write("\n*** ");
}

void HandleFatalSignal(int signal, siginfo_t* info, void* /*context*/) {
  if (!reported.exchange(true)) {
    WriteHeader();
    Write(SignalName(signal));
    if (signal == SIGSEGV || signal == SIGBUS) {
      Write(" at address ");
      WriteHex(reinterpret_cast<uintptr_t>(info->si_addr));
    }
    Write("\n");
    WriteBacktrace();
  }
  // SA_RESETHAND has restored the default action: this ends the process as the system would have.
  raise(signal);
}

[[noreturn]] void HandleTerminate() {
  std::string_view what = "std::terminate without an exception";
  if (const auto exception = std::current_exception()) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::exception& e) {
      PrintFatalReport(std::string_view(e.what()));
      std::abort();
    } catch (...) {
      what = "uncaught exception of an unknown type";
    }
  }
  PrintFatalReport(what);
  std::abort();
}

/// Owns one thread's alternate stack.
class AlternateStack {
 public:
  AlternateStack()
      : memory_(mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
                     -1, 0)) {
    if (memory_ == MAP_FAILED) return;
    stack_t stack{};
    stack.ss_sp = memory_;
    stack.ss_size = kStackBytes;
    sigaltstack(&stack, nullptr);
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;
  ~AlternateStack() {
    if (memory_ == MAP_FAILED) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    munmap(memory_, kStackBytes);
  }

 private:
  void* memory_;
};

}  // namespace

void PrintFatalReport(std::string_view cause) {
  reported.store(true);
  WriteHeader();
  Write(cause);
  Write("\n");
  WriteBacktrace();
}

void InstallAlternateSignalStack() {
  if (kSanitizerOwnsSignalStack) return;
  static thread_local AlternateStack stack;
  static_cast<void>(stack);
}

void InstallFatalHandlers() {
  // The first calls load libgcc and read the note: both allocate, which a handler must not.
  std::array<void*, 1> warm_up{};
  backtrace(warm_up.data(), 1);
  BuildId();
  InstallAlternateSignalStack();
  struct sigaction action{};
  action.sa_sigaction = HandleFatalSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int signal : kFatalSignals) sigaction(signal, &action, nullptr);
  std::set_terminate(HandleTerminate);
}

}  // namespace firn
