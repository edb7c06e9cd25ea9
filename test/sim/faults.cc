#include "sim/faults.h"

namespace firn::sim {

Status Network::Pass(int64_t fault_rate) {
  constexpr int64_t kUsualMs = 4;
  constexpr int64_t kSlowMs = 5'000;
  scheduler_.SleepFor(scheduler_.Between(0, Strikes(rates_.slow) ? kSlowMs : kUsualMs));
  const Process* process = scheduler_.process();
  if (process != nullptr && process->dead) return Error(ErrorKind::kCancelled, "killed (simulated)");
  if (Strikes(fault_rate))
    return Error(ErrorKind::kUnavailable, "no answer (simulated)").WithRetry(RetryHint::kYes);
  return Ok();
}

}  // namespace firn::sim
