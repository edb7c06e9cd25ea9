#pragma once

#include "sim/simulation.h"

namespace firn::sim {

/// While it lives, the protocol is broken in this way.
class MutationScope {
 public:
  explicit MutationScope(Mutation mutation) { active = mutation; }
  MutationScope(const MutationScope&) = delete;
  MutationScope& operator=(const MutationScope&) = delete;
  ~MutationScope() { active = Mutation::kNone; }

  static Mutation active;
};

}  // namespace firn::sim
