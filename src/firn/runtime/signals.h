#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <thread>

namespace firn::runtime {

enum class StopRequest : uint8_t {
  kGraceful,   ///< the first signal: finish what is in flight, commit, leave
  kImmediate,  ///< every later one: leave now
};

/// Ignores SIGPIPE (a broken pipe is an error of the write) and blocks SIGINT, SIGTERM and SIGHUP for the
/// calling thread and all threads started after. Call in main before any thread is started.
void BlockStopSignals();

/// The one thread that waits for SIGINT, SIGTERM and SIGHUP (sigwait), so that a callback is ordinary code:
/// it may lock and allocate. Needs BlockStopSignals before. The callback runs on this thread; the destructor
/// joins it.
class SignalThread {
 public:
  using Callback = std::function<void(StopRequest request, int signal)>;
  explicit SignalThread(Callback callback);
  SignalThread(const SignalThread&) = delete;
  SignalThread& operator=(const SignalThread&) = delete;
  ~SignalThread();

 private:
  void Run() const;
  Callback callback_;
  std::thread thread_;
};

std::string_view SignalName(int signal);  ///< "SIGTERM" ...

}  // namespace firn::runtime
