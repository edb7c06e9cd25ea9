#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"
#include "firn/decode/bytes_encoding.h"
#include "firn/iceberg/model/schema.h"
#include "firn/record/batch.h"
#include "firn/record/dead_letter.h"
#include "firn/record/raw_batch.h"
#include "firn/record/schema_delta.h"

namespace arrow {
class MemoryPool;
}

namespace firn::decode {

enum class UnknownFields : uint8_t { kIgnore, kRescue, kDeadLetter };
using record::Evolution;
enum class TimeUnit : uint8_t { kNone, kSeconds, kMillis, kMicros, kNanos };

/// Column that UnknownFields::kRescue fills: an optional string at the top of the schema.
inline constexpr std::string_view kRescuedColumn = "_rescued";
/// Struct of a record's source position; no field of a record goes there.
inline constexpr std::string_view kKafkaColumn = "_kafka";

/// How one top-level column is found in the record.
struct ColumnMapping {
  std::string from;  ///< field name in the record; dotted for nested (`a.b`; `a\\.b` is one name with a dot)
  TimeUnit epoch_unit = TimeUnit::kNone;  ///< numbers for time-like columns; kNone: numbers are refused
  BytesEncoding bytes_encoding = BytesEncoding::kDefault;  ///< text for columns that hold bytes
};

/// A table schema bound to field ids, and how records map onto it.
struct BoundSchema {
  iceberg::SchemaPtr schema;                  ///< of the table, with ids
  std::map<int32_t, ColumnMapping> mappings;  ///< by top-level field id; absent: same name
  UnknownFields unknown_fields = UnknownFields::kIgnore;
  Evolution evolution = Evolution::kNone;
  int32_t max_columns = 1000;
  std::vector<record::RefusedChange> refused;  ///< changes that route/ found impossible: not asked for again
  std::string target_table;                    ///< for dead letters
  bool dead_letter_tombstones = false;         ///< false: skipped and counted
  int64_t max_record_bytes = INT64_MAX;        ///< key and value; a larger record is a bad one
  /// Keys: a record that is one plain value rather than fields goes to this column; where it is empty such a
  /// record is bad.
  std::string scalar_column;
  std::string name_mapping;           ///< the table's schema.name-mapping.default; empty: none
  bool kafka_columns = false;         ///< for the pipeline: rows get kKafkaColumn after decoding
  arrow::MemoryPool* pool = nullptr;  ///< null: Arrow's default
};

struct DecodeCounters {
  int64_t tombstones_skipped = 0;
  int64_t unknown_fields_ignored =
      0;  ///< with evolution also new fields that hold nothing yet (null, {}, [])
};

/// Outcome for the records [begin, begin + consumed) of a raw batch.
struct DecodeResult {
  record::Batch batch;                           ///< rows is null when none was decoded
  std::vector<record::DeadLetter> dead_letters;  ///< in offset order, with original bytes
  std::optional<record::SchemaDelta> delta;  ///< set when decoding was cut: record begin + consumed needs it
  size_t consumed = 0;
  DecodeCounters counters;
};

/// (raw batch, bound schema) -> Arrow batch, dead letters, schema delta.
/// Total: each record ends as a row, a dead letter, a counted tombstone, or beyond the cut. No I/O but what a
/// schema registry's cache does in the background, no unknown field dropped without a count. One per lane and
/// table; not thread-safe.
/// Errors: broken invariants, memory; retriable (Error::retry) while the registry has not told a schema that
/// the records need: nothing was taken, decode the same records again after a pause. Never waits for long.
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual Result<DecodeResult> Decode(const record::RawBatch& raw, size_t begin) = 0;
  virtual const iceberg::SchemaPtr& schema() const = 0;
};

}  // namespace firn::decode
