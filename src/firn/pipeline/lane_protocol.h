#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "firn/base/error.h"
#include "firn/commit/protocol/shared_read.h"
#include "firn/decode/decoder.h"
#include "firn/iceberg/catalog.h"
#include "firn/pipeline/batch.h"
#include "firn/pipeline/config.h"
#include "firn/pipeline/takes_from.h"
#include "firn/pipeline/target.h"
#include "firn/record/raw_batch.h"
#include "firn/record/schema_delta.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/ids.h"
#include "firn/runtime/memory_budget.h"
#include "firn/runtime/threads.h"

namespace arrow {
class MemoryPool;
}

/// What a lane and the control thread tell each other.
namespace firn::pipeline {

/// A table as the lanes see it: replaced as a whole when its schema, spec or properties changed.
struct TableView {
  iceberg::LoadedTable table;
  decode::BoundSchema bound;
  int64_t version = 0;  ///< rises with each replacement
};
using TableViewPtr = std::shared_ptr<const TableView>;

/// What the control thread tells the lanes of one table.
struct TableOffer {
  TableViewPtr view;  ///< null: the table takes part no more
  std::shared_ptr<const TakesFromMap> takes_from;
};

struct LaneConfig {
  int index = 0;         ///< in the writers' file names
  int source_index = 0;  ///< which of the source's lanes this one polls
  BadRecordPolicy on_bad_record = BadRecordPolicy::kDeadLetter;
  TombstonePolicy tombstones = TombstonePolicy::kSkip;
  int64_t max_buffered_bytes = int64_t{64} << 20;  ///< of each writer
  int64_t open_file_from_bytes = 0;                ///< of each writer: rows that wait before a file is opened
  int64_t max_letter_bytes = std::numeric_limits<int64_t>::max();  ///< of a table's letters: then a cut comes
  size_t max_decoders = 256;  ///< kept; the one that was used longest ago makes room
  arrow::MemoryPool* pool = nullptr;
  runtime::MemoryBudget* memory = nullptr;
  runtime::IdSource* ids = nullptr;
  runtime::Clock* clock = nullptr;
  runtime::Threads* threads = &runtime::SystemThreads();
  std::vector<bool> infers;             ///< by rule: a table to be made takes its columns from a sample
  std::optional<uint32_t> only_target;  ///< a read of one table: records of others are none of its business
  /// One error ends the run, as it is with one table: no table is set aside.
  bool fails_whole = false;
};

/// What a lane wants of the control thread for one table; its records wait meanwhile.
struct TableRequest {
  enum class Kind : uint8_t { kOpen, kChange, kTrouble, kFailed };
  TargetPtr target;  ///< null: kTrouble that holds up all of them
  Kind kind = Kind::kOpen;
  std::shared_ptr<const std::vector<record::RawBatch>> sample;  ///< kOpen: to infer columns from
  record::SchemaDelta delta;                                    ///< kChange
  int64_t view_version = 0;    ///< kChange: of the view the delta was found under
  std::optional<Error> error;  ///< kTrouble (it tries again by itself), kFailed
};

/// What a lane hands over.
struct LaneCut {
  struct Part {
    TargetPtr target;
    BatchPart part;
  };
  std::vector<Part> parts;
  record::PositionRanges read;  ///< since the last cut: given to tables, set aside, or dropped
  commit::PendingFrom pending;  ///< of what stays in the lane
  /// Records since the last cut whose table takes no part in this read, where the first of them was.
  std::map<uint32_t, commit::PendingFrom> left_out;
};

/// Which tables to cut.
struct CutOrder {
  bool all = true;
  std::set<uint32_t> targets;  ///< with all = false
  bool pause = false;
};

}  // namespace firn::pipeline
