#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "firn/base/result.h"
#include "firn/iceberg/model/table_metadata.h"
#include "firn/record/dead_letter.h"
#include "firn/store/store.h"

namespace firn::write {

/// A row of a dead-letter table. A mark (stage kReplayStage) says that the newest letter of its position, as
/// of the replay that wrote it, was sent through the pipeline again.
struct StoredLetter {
  record::DeadLetter letter;
  std::string pipeline;
  int64_t arrival_ms = 0;
  bool is_mark() const;
};

inline constexpr char kReplayStage[] = "replay";
inline constexpr char kReplayedReason[] = "replayed";

struct LetterScan {
  bool payload = true;                 ///< false: without key, value and headers
  std::optional<int64_t> snapshot_id;  ///< empty: as the table is now
};

/// Gives every row of a dead-letter table, one at a time and in no order. Columns that the table does not
/// have are empty. An error of `take` ends it.
Status ReadLetters(const std::shared_ptr<const iceberg::TableMetadata>& table,
                   const std::shared_ptr<store::Store>& store, const LetterScan& scan,
                   const std::function<Status(StoredLetter)>& take);

}  // namespace firn::write
