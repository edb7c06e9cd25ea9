#include "firn/runtime/limits.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

namespace firn::runtime {

namespace {

std::optional<std::string> ReadText(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<int64_t> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  int64_t number = 0;
  if (!(file >> number)) return std::nullopt;  // also "max"
  return number;
}

template <typename T>
void TakeSmaller(std::optional<T>& limit, std::optional<T> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

/// Version 1 writes "no bound" as a number near the largest.
std::optional<int64_t> ReadMemoryV1(const std::string& folder) {
  const auto bytes = ReadNumber(folder + "/memory.limit_in_bytes");
  return bytes && *bytes < (int64_t{1} << 60) ? bytes : std::nullopt;
}

std::optional<double> Quotient(std::optional<int64_t> quota, std::optional<int64_t> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<double> ReadCpusV1(const std::string& folder) {
  return Quotient(ReadNumber(folder + "/cpu.cfs_quota_us"), ReadNumber(folder + "/cpu.cfs_period_us"));
}

/// "<quota>|max <period>"
std::optional<double> ReadCpusV2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  int64_t quota = 0;
  int64_t period = 0;
  if (!(file >> quota >> period)) return std::nullopt;
  return Quotient(quota, period);
}

/// Calls `visit` with root + path, root + its parent ... root.
template <typename F>
void VisitUpwards(const std::string& root, std::string path, F visit) {
  while (true) {
    visit(root + (path == "/" ? "" : path));
    const size_t slash = path.rfind('/');
    if (path.empty() || path == "/" || slash == std::string::npos) return;
    path.resize(slash);
  }
}

/// One line of /proc/self/cgroup: "<id>:<controllers>:<path>"; no controllers in version 2.
void ApplyLine(const std::string& root, const std::string& line, CgroupLimits& limits) {
  const size_t first = line.find(':');
  const size_t second = line.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return;
  const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
  const std::string path = line.substr(second + 1);
  if (controllers == ",,") {
    VisitUpwards(root, path, [&](const std::string& folder) {
      TakeSmaller(limits.memory_bytes, ReadNumber(folder + "/memory.max"));
      TakeSmaller(limits.cpus, ReadCpusV2(folder));
    });
  }
  if (controllers.find(",memory,") != std::string::npos) {
    VisitUpwards(root + "/memory", path,
                 [&](const std::string& folder) { TakeSmaller(limits.memory_bytes, ReadMemoryV1(folder)); });
  }
  if (controllers.find(",cpu,") != std::string::npos) {
    VisitUpwards(root + "/cpu", path,
                 [&](const std::string& folder) { TakeSmaller(limits.cpus, ReadCpusV1(folder)); });
  }
}

int32_t AffinityCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

Result<int64_t> RaiseOpenFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return Error(ErrorKind::kIo, std::string("cannot read the limit of open files: ") + std::strerror(errno));
  }
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
      return Error(ErrorKind::kIo,
                   std::string("cannot raise the limit of open files: ") + std::strerror(errno));
    }
  }
  return static_cast<int64_t>(limit.rlim_cur);
}

CgroupLimits ReadCgroupLimits(const std::string& root, const std::string& own_cgroup) {
  CgroupLimits limits;
  std::istringstream lines(ReadText(own_cgroup).value_or(""));
  for (std::string line; std::getline(lines, line);) ApplyLine(root, line, limits);
  return limits;
}

int64_t AvailableMemoryBytes() {
  const int64_t physical = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return std::min(physical, ReadCgroupLimits().memory_bytes.value_or(physical));
}

int64_t DefaultMemoryBytes() { return AvailableMemoryBytes() / 2; }

int64_t ReservableBytes(int64_t memory_bytes) {
  constexpr int64_t kProgramBytes = int64_t{64} << 20;
  constexpr int64_t kLeastBytes = int64_t{48} << 20;
  return std::max(kLeastBytes, (memory_bytes - kProgramBytes) / 5 * 3);
}

int32_t AvailableCpus() {
  const int32_t affinity = AffinityCpus();
  const auto quota = ReadCgroupLimits().cpus;
  if (!quota) return affinity;
  return std::clamp(static_cast<int32_t>(std::ceil(*quota)), 1, affinity);
}

}  // namespace firn::runtime
