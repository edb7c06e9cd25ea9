#pragma once

#include <cstdint>
#include <string>

namespace firn::sim {

/// Deliberate breaks of the protocol, to see that the simulation notices. They exist in its executable alone:
/// the linker puts them between the committer and the functions that it calls (mutations.cc).
enum class Mutation : uint8_t {
  kNone,
  kSkipAncestorSearch,    ///< an earlier try is not looked for in the history
  kDeleteOnUnknown,       ///< an unanswered commit counts as refused
  kAdvanceBeforeCommit,   ///< the positions go in first, the rows in a commit of their own
  kDropOthersPartitions,  ///< the map holds only what this batch moved
};

struct SimOutcome {
  std::string wrong;   ///< empty: everything was as it must be
  uint64_t trace = 0;  ///< equal for equal runs
  uint64_t turns = 0;
  int64_t virtual_ms = 0;
  int64_t rows = 0;
  int commits = 0;
  int kills = 0;
  int rewrites = 0;
  int expiries = 0;
};

/// One schedule, drawn by the seed: one or two workers of one pipeline are killed, stopped and started again
/// while records come, partitions move, the catalog's answers and the store fail, and another engine rewrites
/// and expires; then all that settles, a last run reads to the end, and the oracle looks.
SimOutcome Simulate(uint64_t seed, Mutation mutation = Mutation::kNone);

}  // namespace firn::sim
