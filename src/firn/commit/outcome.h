#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "firn/base/error.h"
#include "firn/commit/protocol/fence.h"
#include "firn/iceberg/catalog.h"

namespace firn::commit {

/// The five outcomes of a commit (invariant 2). A closed type that must be looked at.
struct Committed {
  iceberg::LoadedTable table;
  int64_t snapshot_id = 0;
  int64_t epoch = 0;
  int tries = 1;
  int64_t valid_through_ms = 0;  ///< 0: no observation was reached
};
/// Found in the table's history: an earlier try (or process) made exactly this commit.
struct AlreadyCommitted {
  iceberg::LoadedTable table;
  int64_t snapshot_id = 0;
};
/// Others kept winning until the time limit. Nothing of ours was applied; the files were removed.
struct ConflictExhausted {
  Error error;
};
/// May or may not have been applied, and the history did not tell within the time limit. The files stay.
struct UnknownOutcome {
  Error error;
  std::vector<std::string> files;
};
/// Definitely not applied and will not be. The same records may go in once they are read again where `fence`
/// is set (the positions refused the batch) or `altered` (the table's schema or specs are not those that the
/// rows were made for any more).
struct Rejected {
  Error error;
  std::optional<FenceMismatch> fence;
  bool altered = false;
};
using CommitOutcome = std::variant<Committed, AlreadyCommitted, ConflictExhausted, UnknownOutcome, Rejected>;

/// What ends the run when an outcome stays unknown: kDataLoss (exit code 3), with the files that were kept.
/// kCancelled stays what it is: nobody waited for the answer.
Error StopOnUnknown(const UnknownOutcome& unknown);

}  // namespace firn::commit
