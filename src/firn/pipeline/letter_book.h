#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "firn/base/result.h"
#include "firn/iceberg/catalog.h"
#include "firn/record/position.h"
#include "firn/write/dead_letter_reader.h"

namespace firn::pipeline {

/// Which letters of a dead-letter table wait: of each position the newest, unless a replay has marked it
/// since it came. A mark stands for the one letter that waited when it was written, so letters and marks of a
/// position are counted against each other, in whatever order rows are read. Takes about 100 bytes a letter.
class LetterBook {
 public:
  struct Entry {
    int32_t open = 0;  ///< letters less marks
    bool has_payload = false;
    int64_t bytes = 0;  ///< of key and value of the newest, where they were read
    int64_t newest_ms = 0;
    bool waits() const { return open > 0; }
  };
  using Offsets = std::map<int64_t, Entry>;

  /// As the table is now, or as it was. `payload`: sizes are wanted, too.
  static Result<LetterBook> Read(const iceberg::LoadedTable& table, std::optional<int64_t> snapshot_id,
                                 bool payload);

  /// Whether this row is the letter that waits at its position. False for marks.
  bool Waits(const write::StoredLetter& stored) const;
  const std::map<record::SourcePartition, Offsets>& entries() const { return entries_; }

 private:
  void Take(const write::StoredLetter& stored);

  std::map<record::SourcePartition, Offsets> entries_;
};

/// A null value is a record of its own only where the letter says so; else its bytes were not kept.
bool HasPayload(const record::DeadLetter& letter);

}  // namespace firn::pipeline
