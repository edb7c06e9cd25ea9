#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/decode/cell.h"
#include "firn/decode/inferred_type.h"
#include "firn/decode/json/bound_record.h"
#include "firn/decode/json/walker.h"
#include "firn/decode/row_decoder.h"

namespace firn::decode {

/// Parses records straight into the columns of a BoundRecord: each token is looked at once, nothing is kept
/// of a record but its cells.
///
/// A key that comes twice: the later value wins, but both must be good. Objects that are mapped field by
/// field join.
class RowParser {
 public:
  explicit RowParser(BoundRecord* record) : record_(*record) {}

  /// `text` as for TokenIndex. Throws OutOfMemory and std::bad_alloc; the columns are then in no usable
  /// state.
  RowOutcome Parse(std::string_view text);

  const Failure& failure() const { return failure_; }
  const Needs& needs() const { return needs_; }
  int64_t unknown_fields_ignored() const { return ignored_; }

 private:
  struct Rescued {
    std::string path;
    std::string_view raw;
  };

  bool ParseRoot();
  bool ParseMembers(ObjectShape& shape, int64_t row);
  KeySlot* FindSlot(ObjectShape& shape, const uint8_t* key_token);
  bool ParseMember(KeySlot& slot, ObjectShape& shape, int64_t row);
  bool ParseMappedObject(KeySlot& slot, int64_t row);
  bool ParseUnknown(const KeySlot& slot, const ObjectShape& shape);
  bool ParseNewField(const KeySlot& slot, const ObjectShape& shape);
  bool ParseValue(Column& column);
  bool ParseNull(Column& column, const uint8_t* token);
  bool ParseString(Column& column, const uint8_t* token);
  bool ParseBoolean(Column& column, const uint8_t* token);
  bool ParseInt(Column& column, const uint8_t* token);
  bool ParseLong(Column& column, const uint8_t* token);
  bool ParseScalar(Column& column, const uint8_t* token);
  bool ParseStruct(Column& column, const uint8_t* token);
  bool ParseList(Column& column, const uint8_t* token);
  bool ParseMap(Column& column, const uint8_t* token);
  bool ParseMapEntries(Column& column, const std::vector<int64_t>& superseded);
  bool ParseMapEntry(Column& column);
  bool CheckRequired(Column& column, int64_t row);
  void AppendRescued(int64_t row);
  std::string_view Apart(std::string_view text);
  RowOutcome Finish(int64_t row, bool parsed);
  void Explain();

  bool Malformed();
  bool Mismatch(const Column& column, const uint8_t* token);
  bool Wrong(const Column& column, const uint8_t* token, std::string_view reason, std::string_view expected);
  bool Settle(Column& column, const uint8_t* token, const CellOutcome& outcome);
  bool Widen(Column& column, const CellOutcome& outcome);
  bool Through(std::string_view key);
  void PrefixRescued(size_t since, std::string_view key);

  BoundRecord& record_;
  Walker walker_;
  Needs needs_;
  Failure failure_;
  int64_t ignored_ = 0;
  std::vector<Rescued> rescued_;
  std::string rescued_text_;
  std::string apart_;

  // Of a failure, until Explain.
  std::string_view reason_;
  std::string path_;
  std::string detail_;
};

}  // namespace firn::decode
