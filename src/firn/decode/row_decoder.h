#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/decode/column.h"
#include "firn/decode/decoder.h"
#include "firn/decode/evolution.h"

namespace firn::decode {

enum class RowOutcome : uint8_t {
  kRow,          ///< one row was added to every column
  kNeedsChange,  ///< a good record, but the schema has no room for it; nothing was added
  kBad,          ///< see failure(); nothing was added
};

/// Why a record is bad.
struct Failure {
  std::string_view reason;  ///< decode/reasons.h
  std::string message;
};

/// What a format whose records become rows one by one adds to MakeRowDecoder. May throw OutOfMemory and
/// std::bad_alloc; its columns are then cut back to nothing before it is used again.
class RowReader {
 public:
  virtual ~RowReader() = default;
  /// Before the records from `begin` on are read: what they have in common (RawBatch::file), what reading
  /// them needs. A retriable error: not now, see Decoder.
  virtual Status Enter(const record::RawBatch& /*raw*/, size_t /*begin*/) { return Ok(); }
  /// Record `i`, which is not null unless takes_null().
  virtual RowOutcome Read(const record::RawBatch& raw, size_t i) = 0;
  /// Whether a record without a value is a row like others rather than a tombstone.
  virtual bool takes_null() const { return false; }

  virtual const BoundSchema& bound() const = 0;
  /// Struct of the table's columns, which Read fills.
  virtual Column& root() = 0;
  /// Named fields of the schema, at every depth.
  virtual int32_t field_count() const = 0;

  /// Of the last Read.
  virtual const Failure& failure() const = 0;
  virtual const Needs& needs() const = 0;
  virtual int64_t unknown_fields_ignored() const = 0;
};

/// The decoder around a reader of single records: dead letters, tombstones, the cut before the first record
/// that needs a change, and the look ahead that joins what the rest of the batch needs into one delta.
Result<std::unique_ptr<Decoder>> MakeRowDecoder(std::unique_ptr<RowReader> reader);

/// Record `i` of a batch with its original bytes.
record::DeadLetter MakeDeadLetter(const record::RawBatch& raw, size_t i, std::string_view target_table,
                                  const Failure& failure);

/// What a format's Make function does around its own work: the bound schema gets a memory pool, and what
/// runs out of memory becomes an error. `make` gives a Result of a decoder.
template <typename Make>
Result<std::unique_ptr<Decoder>> BindDecoder(BoundSchema bound, Make&& make) {
  FIRN_CHECK(bound.schema != nullptr, "a decoder is bound to a schema");
  UseDefaultPool(&bound);
  try {
    return std::forward<Make>(make)(bound);
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::kResourceExhausted, "no memory for a decoder");
  }
}

}  // namespace firn::decode
