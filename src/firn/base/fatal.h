#pragma once

#include <string_view>

namespace firn {

/// From here on SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT and std::terminate print version, build id, thread
/// name, cause and a backtrace to stderr, async-signal-safely, and then end the process as the system would
/// (core dump, signal status). Call once, first in main; an alternate stack is set for the calling thread, so
/// that its stack overflow is reported too.
void InstallFatalHandlers();

/// An alternate signal stack for the calling thread (runtime's threads call it); freed when the thread ends.
void InstallAlternateSignalStack();

/// Version, build id, thread name and `cause`, then the backtrace of the caller, to stderr.
/// Async-signal-safe.
void PrintFatalReport(std::string_view cause);

}  // namespace firn
