#include "firn/runtime/signals.h"

#include <pthread.h>

#include <csignal>
#include <utility>

#include "firn/runtime/thread.h"

namespace firn::runtime {

namespace {

/// Wakes the thread up at its end; never sent by others.
constexpr int kWakeSignal = SIGUSR2;

sigset_t WaitedSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, kWakeSignal}) sigaddset(&set, signal);
  return set;
}

}  // namespace

void BlockStopSignals() {
  signal(SIGPIPE, SIG_IGN);
  const sigset_t set = WaitedSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

SignalThread::SignalThread(Callback callback) : callback_(std::move(callback)), thread_([this] { Run(); }) {}

SignalThread::~SignalThread() {
  pthread_kill(thread_.native_handle(), kWakeSignal);
  thread_.join();
}

void SignalThread::Run() const {
  NameThisThread("signals");
  const sigset_t set = WaitedSignals();
  StopRequest request = StopRequest::kGraceful;
  while (true) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) continue;
    if (signal == kWakeSignal) return;
    callback_(request, signal);
    request = StopRequest::kImmediate;
  }
}

std::string_view SignalName(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "signal";
  }
}

}  // namespace firn::runtime
