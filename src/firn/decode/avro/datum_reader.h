#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/avro/cursor.h"
#include "firn/base/int128.h"
#include "firn/decode/avro/decode_plan.h"
#include "firn/decode/avro/record_target.h"
#include "firn/decode/cell.h"
#include "firn/decode/row_decoder.h"

namespace firn::decode {

/// Follows a plan through one datum after the other, straight into the columns. Nothing is kept of a datum
/// but its cells; one that fails leaves nothing behind.
class DatumReader {
 public:
  explicit DatumReader(BoundTarget* target) : target_(*target) {}

  /// kRow or kBad. All bytes must belong to the datum. Throws OutOfMemory and std::bad_alloc; the columns are
  /// then in no usable state.
  RowOutcome Read(const DecodePlan& plan, std::string_view datum);

  const Failure& failure() const { return failure_; }
  int64_t unknown_fields_ignored() const { return ignored_; }

 private:
  struct Step {
    int64_t index = -1;  ///< of an array's item; else
    std::string_view key;
  };

  bool Run(uint32_t at, uint32_t end);
  bool Execute(const Op& op, uint32_t* next);
  bool ReadNull(const Op& op);
  bool ReadBoolean(const Op& op);
  bool ReadLong(const Op& op);
  bool ReadInteger(const Op& op);
  bool ReadFloat(const Op& op);
  bool ReadDouble(const Op& op);
  bool ReadText(const Op& op);
  bool ReadBytes(const Op& op);
  bool ReadFixed(const Op& op);
  bool ReadDecimal(const Op& op);
  bool ReadEnum(const Op& op);
  bool ReadNullable(const Op& op, uint32_t* next);
  bool ReadBranch(const Op& op);
  bool ReadArray(const Op& op, uint32_t body);
  bool ReadMap(const Op& op, uint32_t body);
  bool ReadEntry(const Op& op, uint32_t body);
  bool EndStruct(const Op& op);
  bool Rescue(const Op& op);
  void AppendRescued(int64_t row);

  bool StoreInteger(const Op& op, int64_t value);
  bool StoreDate(const Op& op, int64_t value);
  bool StoreTime(const Op& op, int64_t value);
  bool StoreTimestamp(const Op& op, int64_t value);
  bool StoreDecimal(const Op& op, Int128 value, int scale);

  bool Malformed();
  bool Wrong(const Op& op, std::string_view reason, std::string_view found, std::string_view expected);
  bool Settle(const Op& op, std::string_view text, const CellOutcome& outcome);
  bool Fail(const Op& op, std::string_view reason, std::string detail);
  std::string PathOf(const Op& op) const;

  BoundTarget& target_;
  const DecodePlan* plan_ = nullptr;
  avro::Cursor cursor_;
  int64_t free_items_ = 0;
  int64_t ignored_ = 0;
  std::vector<Step> steps_;  ///< of the lists and maps that are open
  std::string rescued_;      ///< JSON members
  Failure failure_;
};

}  // namespace firn::decode
