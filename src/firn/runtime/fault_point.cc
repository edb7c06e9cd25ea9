#include "firn/runtime/fault_point.h"

#include <cstdlib>

#ifdef FIRN_FAULT_POINTS
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "firn/base/text_distance.h"
#include "firn/obs/log.h"
#include "firn/runtime/clock.h"
#endif

namespace firn::runtime {

#ifdef FIRN_FAULT_POINTS

namespace {

enum class FaultAction : uint8_t { kNone, kKill, kStop, kError, kDelay };

#define FIRN_FAULT_NAME(name) #name,
constexpr std::array kNames = {FIRN_FAULT_POINT_LIST(FIRN_FAULT_NAME)};
#undef FIRN_FAULT_NAME

struct ArmedFault {
  std::atomic<FaultAction> action{FaultAction::kNone};
  std::atomic<int64_t> nth{0};
  std::atomic<int64_t> hits{0};
};

std::array<ArmedFault, kNames.size()> faults;

struct FaultRequest {
  size_t point = 0;
  int64_t nth = 0;
  FaultAction action = FaultAction::kNone;
};

Error BadFault(std::string_view text, const std::string& why) {
  return {ErrorKind::kInvalidArgument,
          "FIRN_FAULT: '" + std::string(text) + "': " + why + "; the form is name:nth:kill|stop|error|delay"};
}

std::string UnknownName(std::string_view name) {
  const std::vector<std::string> known(kNames.begin(), kNames.end());
  const auto nearest = NearestName(name, known);
  return "no fault point '" + std::string(name) + "'" + (nearest ? ", did you mean '" + *nearest + "'?" : "");
}

std::optional<FaultAction> ParseAction(std::string_view text) {
  if (text == "kill") return FaultAction::kKill;
  if (text == "stop") return FaultAction::kStop;
  if (text == "error") return FaultAction::kError;
  if (text == "delay") return FaultAction::kDelay;
  return std::nullopt;
}

Result<FaultRequest> ParseFault(std::string_view text) {
  const size_t first = text.find(':');
  const size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
  if (second == std::string_view::npos) return BadFault(text, "two colons expected");
  FaultRequest request;
  const std::string_view name = text.substr(0, first);
  while (request.point < kNames.size() && kNames[request.point] != name) ++request.point;
  if (request.point == kNames.size()) return BadFault(text, UnknownName(name));
  const std::string_view nth = text.substr(first + 1, second - first - 1);
  const auto [end, error] = std::from_chars(nth.data(), nth.data() + nth.size(), request.nth);
  if (error != std::errc() || end != nth.data() + nth.size() || request.nth < 1) {
    return BadFault(text, "nth is a whole number from 1");
  }
  const auto action = ParseAction(text.substr(second + 1));
  if (!action) return BadFault(text, "unknown action");
  request.action = *action;
  return request;
}

void Disarm() {
  for (ArmedFault& fault : faults) {
    fault.action = FaultAction::kNone;
    fault.hits = 0;
  }
}

}  // namespace

Status ArmFaults(std::string_view text) {
  std::vector<FaultRequest> requests;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    FIRN_ASSIGN(const FaultRequest request, ParseFault(text.substr(0, comma)));
    requests.push_back(request);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  Disarm();
  for (const FaultRequest& request : requests) {
    faults[request.point].nth = request.nth;
    faults[request.point].action = request.action;
  }
  return Ok();
}

Status HitFaultPoint(FaultPoint point) {
  ArmedFault& fault = faults[static_cast<size_t>(point)];
  const FaultAction action = fault.action.load(std::memory_order_acquire);
  if (action == FaultAction::kNone || fault.hits.fetch_add(1) + 1 != fault.nth) return Ok();
  obs::Log(obs::Level::kWarning, "fault point reached",
           {{"point", kNames[static_cast<size_t>(point)]}, {"nth", fault.nth.load()}});
  switch (action) {
    case FaultAction::kKill:
      kill(getpid(), SIGKILL);
      break;
    case FaultAction::kStop:
      kill(getpid(), SIGSTOP);
      break;
    case FaultAction::kError:
      return Error(ErrorKind::kUnavailable,
                   std::string("injected fault at ") + kNames[static_cast<size_t>(point)]);
    case FaultAction::kDelay:
      SystemClock().SleepMs(1000);
      break;
    case FaultAction::kNone:
      break;
  }
  return Ok();
}

#else

Status ArmFaults(std::string_view text) {
  if (text.empty()) return Ok();
  return Error(ErrorKind::kInvalidArgument, "FIRN_FAULT is set, but this build has no fault points")
      .WithRemedy("Build the preset 'faults', or unset it.");
}

#endif

Status ArmFaultsFromEnvironment() {
  const char* text = std::getenv("FIRN_FAULT");
  return ArmFaults(text == nullptr ? "" : text);
}

}  // namespace firn::runtime
