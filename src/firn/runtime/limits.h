#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "firn/base/result.h"

namespace firn::runtime {

/// Raises the soft limit of open files to the hard one; returns what holds now.
Result<int64_t> RaiseOpenFileLimit();

/// What the control group of this process allows; empty where there is no bound.
struct CgroupLimits {
  std::optional<int64_t> memory_bytes;
  std::optional<double> cpus;
};
/// `root` is where the cgroup file systems are mounted, `own_cgroup` the file that names ours; version 2 and
/// 1 are understood. Bounds of the groups above ours count as well.
CgroupLimits ReadCgroupLimits(const std::string& root = "/sys/fs/cgroup",
                              const std::string& own_cgroup = "/proc/self/cgroup");

/// Memory this process may use: the machine's, or the control group's where that is less.
int64_t AvailableMemoryBytes();
/// Default of `resources.memory`: half of that; the rest is for the page cache and others.
int64_t DefaultMemoryBytes();
/// What of `memory_bytes`, the whole process's resident size, may be reserved for rows, open files and
/// records read ahead. The program itself takes about 64 MiB, and the allocator, compressors and parsers
/// about as much again as half of what is reserved; at least 48 MiB, without which nothing runs.
int64_t ReservableBytes(int64_t memory_bytes);
/// Default of `resources.threads`: CPUs by affinity and by the control group's quota (rounded up), at
/// least 1.
int32_t AvailableCpus();

}  // namespace firn::runtime
