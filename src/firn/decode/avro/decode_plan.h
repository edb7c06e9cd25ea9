#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "firn/avro/schema.h"
#include "firn/decode/avro/record_target.h"
#include "firn/decode/evolution.h"
#include "firn/decode/row_decoder.h"

namespace firn::decode {

/// One step through a datum.
enum class OpCode : uint8_t {
  // One value of the datum becomes one cell.
  kNull,
  kBoolean,
  kInt,      ///< int to int
  kLong,     ///< int or long to long
  kInteger,  ///< int or long to anything else; see Op::integer
  kFloat,
  kFloatToDouble,
  kDouble,
  kDoubleToFloat,
  kString,  ///< UTF-8 is checked
  kBytes,
  kText,     ///< text to a date, a decimal, a uuid ...
  kFixed,    ///< `size` bytes to a fixed-width cell
  kRaw,      ///< `size` bytes to a variable-width cell
  kDecimal,  ///< of `size` bytes, -1: with a length
  kEnum,
  // Values without a column.
  kIgnore,  ///< counted
  kSkip,    ///< holds nothing to count: null, an empty record
  kRescue,
  kFail,  ///< a value that this column cannot take
  // Shape. Bodies are the ops up to `end`.
  kNullable,      ///< null, or the value of the body
  kBranch,        ///< a union: one of plan.branches[index]
  kBranchStruct,  ///< a union that fills a struct: as kBranch, then the struct is closed
  kBeginStruct,
  kEndStruct,
  kArray,
  kMap,
};

enum class IntegerStore : uint8_t { kInt, kDate, kFloat, kDouble, kDecimal, kTime, kTimestamp };

struct Op {
  OpCode code = OpCode::kNull;
  IntegerStore integer = IntegerStore::kInt;
  bool narrow = false;  ///< kInteger, kLong: the writer's type is int
  int8_t digits = 0;    ///< decimal digits below a second (times), scale (kDecimal): of the writer
  uint32_t end = 0;     ///< behind the body
  uint32_t index = 0;   ///< kFail: plan.failures; kBranch: plan.branches; kNullable: branch that is null
  uint32_t path = 0;    ///< of the field, in plan.paths
  int64_t size = 0;     ///< bytes of a fixed; least bytes of an item
  Column* column = nullptr;
  Column* parent =
      nullptr;  ///< struct whose row the cell belongs to; null inside lists and maps, and in bodies
  const avro::Node* node = nullptr;
};

/// How the data of one writer schema become rows of the bound columns: a flat list of steps, made once.
struct DecodePlan {
  using Range = std::pair<uint32_t, uint32_t>;

  std::vector<Op> ops;
  std::vector<std::vector<Range>> branches;
  std::vector<Failure> failures;
  std::vector<std::string> paths;
  Needs needs;  ///< not empty: the table has to change before the plan may be used
};

/// `writer` must be a record and, like `target`, outlive the plan. Fields are matched by name, then by the
/// writer's aliases.
DecodePlan CompilePlan(const avro::Node& writer, BoundTarget& target);

}  // namespace firn::decode
