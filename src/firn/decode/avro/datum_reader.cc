#include "firn/decode/avro/datum_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/bytes.h"
#include "firn/base/time.h"
#include "firn/decode/avro/datum_json.h"
#include "firn/decode/reasons.h"

namespace firn::decode {

using iceberg::TypeId;

namespace {

constexpr size_t kExcerptBytes = 60;
constexpr int64_t kMaxFreeItems = 4096;  // of one datum: nulls for columns, made of no bytes
constexpr int64_t kMaxColumnBytes = int64_t{1} << 30;
constexpr size_t kInt128Bytes = 16;
constexpr int64_t kFewEntries = 8;

constexpr int64_t PowerOfTen(int exponent) {
  int64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

/// value x 10^(to - from); false where digits would be lost or 64 bits do not do.
enum class Scaled : uint8_t { kOk, kInexact, kOutOfRange };
Scaled Rescale(int64_t value, int from, int to, int64_t* out) {
  if (to >= from) {
    return __builtin_mul_overflow(value, PowerOfTen(to - from), out) ? Scaled::kOutOfRange : Scaled::kOk;
  }
  const int64_t divisor = PowerOfTen(from - to);
  *out = value / divisor;
  return value % divisor == 0 ? Scaled::kOk : Scaled::kInexact;
}

int DigitsOfColumn(TypeId id) { return id == TypeId::kTimestampNs || id == TypeId::kTimestampTzNs ? 9 : 6; }

/// Two's complement, the highest byte first; false when it needs more than 128 bits.
bool ReadBigEndian(std::string_view bytes, Int128* value) {
  const bool negative = !bytes.empty() && static_cast<int8_t>(bytes[0]) < 0;
  const char fill = negative ? '\xFF' : '\0';
  while (bytes.size() > kInt128Bytes) {
    if (bytes[0] != fill || (static_cast<int8_t>(bytes[1]) < 0) != negative) return false;
    bytes.remove_prefix(1);
  }
  UInt128 bits = negative ? ~UInt128{0} : UInt128{0};
  for (const char c : bytes) bits = (bits << 8) | static_cast<uint8_t>(c);
  *value = static_cast<Int128>(bits);
  return true;
}

int CountDigits(Int128 value) {
  auto rest = value < 0 ? -static_cast<UInt128>(value) : static_cast<UInt128>(value);
  int digits = 0;
  for (; rest != 0; rest /= 10) ++digits;
  return digits;
}

bool HasRepeatedKey(const Column& keys, int64_t begin) {
  if (keys.length() - begin <= kFewEntries) {
    for (int64_t i = begin; i < keys.length(); ++i) {
      for (int64_t j = begin; j < i; ++j) {
        if (keys.CellBytes(i) == keys.CellBytes(j)) return true;
      }
    }
    return false;
  }
  std::unordered_set<std::string_view> seen;
  for (int64_t i = begin; i < keys.length(); ++i) {
    if (!seen.insert(keys.CellBytes(i)).second) return true;
  }
  return false;
}

}  // namespace

RowOutcome DatumReader::Read(const DecodePlan& plan, std::string_view datum) {
  plan_ = &plan;
  cursor_ = avro::Cursor(datum);
  free_items_ = kMaxFreeItems;
  ignored_ = 0;
  steps_.clear();
  rescued_.clear();
  Column& root = target_.root();
  const int64_t row = root.length();
  bool good = Run(0, static_cast<uint32_t>(plan.ops.size()));
  if (good && cursor_.remaining() > 0) {
    failure_ = {reason::kMalformedAvro,
                fmt::format("{} bytes are left over behind the record", cursor_.remaining())};
    good = false;
  }
  if (!good) {
    root.Truncate(row);
    return RowOutcome::kBad;
  }
  if (!rescued_.empty()) AppendRescued(row);
  return RowOutcome::kRow;
}

bool DatumReader::Run(uint32_t at, uint32_t end) {
  while (at < end) {
    const Op& op = plan_->ops[at++];
    if (op.parent != nullptr) op.column->Align(op.parent->length());
    if (!Execute(op, &at)) [[unlikely]]
      return false;
  }
  return true;
}

/// `next`: the op behind this one; moved on past a body that was read or is not there.
bool DatumReader::Execute(const Op& op, uint32_t* next) {
  switch (op.code) {
    case OpCode::kNull:
      return ReadNull(op);
    case OpCode::kBoolean:
      return ReadBoolean(op);
    case OpCode::kInt: {
      int32_t value = 0;
      if (!cursor_.ReadInt(&value)) return Malformed();
      op.column->AppendFixed(value);
      return true;
    }
    case OpCode::kLong:
      return ReadLong(op);
    case OpCode::kInteger:
      return ReadInteger(op);
    case OpCode::kFloat:
    case OpCode::kFloatToDouble:
      return ReadFloat(op);
    case OpCode::kDouble:
    case OpCode::kDoubleToFloat:
      return ReadDouble(op);
    case OpCode::kString:
    case OpCode::kText:
      return ReadText(op);
    case OpCode::kBytes:
      return ReadBytes(op);
    case OpCode::kFixed:
    case OpCode::kRaw:
      return ReadFixed(op);
    case OpCode::kDecimal:
      return ReadDecimal(op);
    case OpCode::kEnum:
      return ReadEnum(op);
    case OpCode::kIgnore:
      ++ignored_;
      return cursor_.Skip(*op.node) || Malformed();
    case OpCode::kSkip:
      return cursor_.Skip(*op.node) || Malformed();
    case OpCode::kRescue:
      return Rescue(op);
    case OpCode::kFail:
      return Fail(op, plan_->failures[op.index].reason, plan_->failures[op.index].message);
    case OpCode::kNullable:
      return ReadNullable(op, next);
    case OpCode::kBranch:
    case OpCode::kBranchStruct:
      *next = op.end;
      return ReadBranch(op);
    case OpCode::kBeginStruct:
      return true;
    case OpCode::kEndStruct:
      return EndStruct(op);
    case OpCode::kArray: {
      const uint32_t body = *next;
      *next = op.end;
      return ReadArray(op, body);
    }
    case OpCode::kMap: {
      const uint32_t body = *next;
      *next = op.end;
      return ReadMap(op, body);
    }
  }
  return Malformed();
}

bool DatumReader::ReadNull(const Op& op) {
  if (op.column->required())
    return Wrong(op, reason::kNullRequired, "null", "a value, as the column is required,");
  op.column->AppendNull();
  return true;
}

bool DatumReader::ReadBoolean(const Op& op) {
  bool value = false;
  if (!cursor_.ReadBoolean(&value)) return Malformed();
  op.column->AppendFixed(static_cast<uint8_t>(value ? 1 : 0));
  return true;
}

bool DatumReader::ReadLong(const Op& op) {
  int64_t value = 0;
  if (op.narrow) {
    int32_t narrow = 0;
    if (!cursor_.ReadInt(&narrow)) return Malformed();
    value = narrow;
  } else if (!cursor_.ReadLong(&value)) {
    return Malformed();
  }
  op.column->AppendFixed(value);
  return true;
}

bool DatumReader::ReadInteger(const Op& op) {
  int64_t value = 0;
  if (op.narrow) {
    int32_t narrow = 0;
    if (!cursor_.ReadInt(&narrow)) return Malformed();
    value = narrow;
  } else if (!cursor_.ReadLong(&value)) {
    return Malformed();
  }
  return StoreInteger(op, value);
}

bool DatumReader::StoreInteger(const Op& op, int64_t value) {
  switch (op.integer) {
    case IntegerStore::kInt:
      if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
        return Wrong(op, reason::kOutOfRange, fmt::format("{}", value),
                     "a whole number from -2147483648 to 2147483647");
      op.column->AppendFixed(static_cast<int32_t>(value));
      return true;
    case IntegerStore::kFloat:
      op.column->AppendFixed(static_cast<float>(value));
      return true;
    case IntegerStore::kDouble:
      op.column->AppendFixed(static_cast<double>(value));
      return true;
    case IntegerStore::kDecimal:
      return StoreDecimal(op, value, 0);
    case IntegerStore::kDate:
      return StoreDate(op, value);
    case IntegerStore::kTime:
      return StoreTime(op, value);
    case IntegerStore::kTimestamp:
      return StoreTimestamp(op, value);
  }
  return Malformed();
}

bool DatumReader::StoreDate(const Op& op, int64_t value) {
  const int64_t per_day = kSecondsPerDay * PowerOfTen(op.digits);
  if (value % per_day != 0)
    return Wrong(op, reason::kInexact, fmt::format("{}", value), "midnight UTC of a day");
  const int64_t days = value / per_day;
  if (days < std::numeric_limits<int32_t>::min() || days > std::numeric_limits<int32_t>::max())
    return Wrong(op, reason::kOutOfRange, fmt::format("{}", value), "a date that the column's type can hold");
  op.column->AppendFixed(static_cast<int32_t>(days));
  return true;
}

bool DatumReader::StoreTime(const Op& op, int64_t value) {
  int64_t micros = 0;
  const Scaled scaled = Rescale(value, op.digits, 6, &micros);
  if (scaled == Scaled::kInexact)
    return Wrong(op, reason::kInexact, fmt::format("{}", value), "no digits below the column's precision");
  if (scaled == Scaled::kOutOfRange || micros < 0 || micros >= kMicrosPerDay)
    return Wrong(op, reason::kOutOfRange, fmt::format("{}", value), "less than 24 hours since midnight");
  op.column->AppendFixed(micros);
  return true;
}

bool DatumReader::StoreTimestamp(const Op& op, int64_t value) {
  int64_t scaled = 0;
  switch (Rescale(value, op.digits, DigitsOfColumn(op.column->type_id()), &scaled)) {
    case Scaled::kOk:
      op.column->AppendFixed(scaled);
      return true;
    case Scaled::kInexact:
      return Wrong(op, reason::kInexact, fmt::format("{}", value), "no digits below the column's precision");
    case Scaled::kOutOfRange:
      break;
  }
  return Wrong(op, reason::kOutOfRange, fmt::format("{}", value), "a time that the column's type can hold");
}

bool DatumReader::StoreDecimal(const Op& op, Int128 value, int scale) {
  const iceberg::Type& type = op.column->type();
  for (; scale > type.scale(); --scale) {
    if (value % 10 != 0)
      return Wrong(op, reason::kInexact, "a decimal", "no digits below the column's scale");
    value /= 10;
  }
  // Each step keeps below 10^38 times 10, which 128 bits hold.
  for (; scale < type.scale() && value != 0; ++scale) {
    if (CountDigits(value) >= type.precision())
      return Wrong(op, reason::kOutOfRange, "a decimal", "no more digits than the column's precision");
    value *= 10;
  }
  if (CountDigits(value) > type.precision())
    return Wrong(op, reason::kOutOfRange, "a decimal", "no more digits than the column's precision");
  op.column->AppendFixed(value);
  return true;
}

bool DatumReader::ReadFloat(const Op& op) {
  float value = 0;
  if (!cursor_.ReadFloat(&value)) return Malformed();
  if (op.code == OpCode::kFloat) {
    op.column->AppendFixed(value);
  } else {
    op.column->AppendFixed(static_cast<double>(value));
  }
  return true;
}

bool DatumReader::ReadDouble(const Op& op) {
  double value = 0;
  if (!cursor_.ReadDouble(&value)) return Malformed();
  if (op.code == OpCode::kDouble) {
    op.column->AppendFixed(value);
    return true;
  }
  const auto narrow = static_cast<float>(value);
  if (std::isinf(narrow) && !std::isinf(value))
    return Wrong(op, reason::kOutOfRange, fmt::format("{}", value), "a number in the range of float");
  op.column->AppendFixed(narrow);
  return true;
}

bool DatumReader::ReadText(const Op& op) {
  std::string_view text;
  if (!cursor_.ReadBytes(&text)) return Malformed();
  if (!IsValidUtf8(text)) return Wrong(op, reason::kInvalidUtf8, Excerpt(text, kExcerptBytes), "UTF-8 text");
  if (op.code == OpCode::kText) return Settle(op, text, AppendText(*op.column, text));
  op.column->AppendBytes(text.data(), static_cast<int64_t>(text.size()));
  return true;
}

bool DatumReader::ReadBytes(const Op& op) {
  std::string_view bytes;
  if (!cursor_.ReadBytes(&bytes)) return Malformed();
  op.column->AppendBytes(bytes.data(), static_cast<int64_t>(bytes.size()));
  return true;
}

bool DatumReader::ReadFixed(const Op& op) {
  std::string_view bytes;
  if (!cursor_.ReadFixed(op.size, &bytes)) return Malformed();
  if (op.code == OpCode::kFixed) {
    op.column->AppendFixedBytes(bytes.data(), op.size);
  } else {
    op.column->AppendBytes(bytes.data(), op.size);
  }
  return true;
}

bool DatumReader::ReadDecimal(const Op& op) {
  std::string_view bytes;
  if (!(op.size < 0 ? cursor_.ReadBytes(&bytes) : cursor_.ReadFixed(op.size, &bytes))) return Malformed();
  Int128 value = 0;
  if (bytes.empty()) return Wrong(op, reason::kBadDecimal, "no bytes", "an unscaled value");
  if (!ReadBigEndian(bytes, &value))
    return Wrong(op, reason::kOutOfRange, fmt::format("a decimal of {} bytes", bytes.size()),
                 "no more digits than the column's precision");
  return StoreDecimal(op, value, op.digits);
}

bool DatumReader::ReadEnum(const Op& op) {
  size_t index = 0;
  if (!cursor_.ReadIndex(op.node->symbols.size(), &index)) return Malformed();
  // One byte of the datum may stand for a long symbol, many times over.
  if (op.column->OffsetAt(op.column->length()) > kMaxColumnBytes)
    return Wrong(op, reason::kOutOfRange, "more than 1 GiB", "less text in one batch");
  const std::string& symbol = op.node->symbols[index];
  op.column->AppendBytes(symbol.data(), static_cast<int64_t>(symbol.size()));
  return true;
}

bool DatumReader::ReadNullable(const Op& op, uint32_t* next) {
  size_t branch = 0;
  if (!cursor_.ReadIndex(2, &branch)) return Malformed();
  if (branch != op.index) return true;  // the body follows
  *next = op.end;
  return ReadNull(op);
}

bool DatumReader::ReadBranch(const Op& op) {
  const std::vector<DecodePlan::Range>& branches = plan_->branches[op.index];
  size_t branch = 0;
  if (!cursor_.ReadIndex(branches.size(), &branch)) return Malformed();
  const bool closes_struct = op.code == OpCode::kBranchStruct;
  if (closes_struct && op.node->branches[branch]->kind == avro::Kind::kNull) return ReadNull(op);
  if (!Run(branches[branch].first, branches[branch].second)) return false;
  return !closes_struct || EndStruct(op);
}

bool DatumReader::EndStruct(const Op& op) {
  Column& column = *op.column;
  const int64_t row = column.length();
  for (Column* child : column.required_children()) {
    if (child->length() == row + 1) [[likely]]
      continue;
    if (child->has_default()) {
      child->Align(row + 1);
      continue;
    }
    const std::string path = PathOf(op);
    failure_ = {
        reason::kMissingRequired,
        fmt::format("field '{}{}{}': a column of type {} is required, but the record has no such field", path,
                    path.empty() ? "" : ".", child->field().name, child->type().ToString())};
    return false;
  }
  column.EndStruct();
  return true;
}

bool DatumReader::ReadArray(const Op& op, uint32_t body) {
  steps_.push_back({0, {}});
  for (;;) {
    int64_t count = 0;
    if (!cursor_.ReadBlockCount(op.size, &free_items_, &count)) return Malformed();
    if (count == 0) break;
    for (int64_t i = 0; i < count; ++i) {
      if (!Run(body, op.end)) return false;
      ++steps_.back().index;
    }
  }
  steps_.pop_back();
  op.column->EndList();
  return true;
}

bool DatumReader::ReadMap(const Op& op, uint32_t body) {
  Column& keys = op.column->child(0);
  const int64_t begin = keys.length();
  steps_.push_back({});
  for (;;) {
    int64_t count = 0;
    if (!cursor_.ReadBlockCount(op.size, &free_items_, &count)) return Malformed();
    if (count == 0) break;
    for (int64_t i = 0; i < count; ++i) {
      if (!ReadEntry(op, body)) return false;
    }
  }
  steps_.pop_back();
  if (HasRepeatedKey(keys, begin)) return Fail(op, reason::kBadMapKey, "the map has a key twice");
  op.column->EndList();
  return true;
}

bool DatumReader::ReadEntry(const Op& op, uint32_t body) {
  std::string_view key;
  if (!cursor_.ReadBytes(&key)) return Malformed();
  if (!IsValidUtf8(key)) return Wrong(op, reason::kInvalidUtf8, Excerpt(key, kExcerptBytes), "UTF-8 text");
  steps_.back().key = key;
  const CellOutcome outcome = AppendMapKey(op.column->child(0), key);
  return Settle(op, key, outcome) && Run(body, op.end);
}

bool DatumReader::Rescue(const Op& op) {
  std::string text;
  if (!WriteDatumJson(*op.node, &cursor_, &text)) return Malformed();
  rescued_ += fmt::format(
      "{}{}:{}", rescued_.empty() ? "{" : ",",
      nlohmann::json(PathOf(op)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), text);
  return true;
}

// The row is closed already: its cell is the next one.
void DatumReader::AppendRescued(int64_t row) {
  rescued_ += '}';
  Column& column = *target_.rescued();
  column.Align(row);
  column.AppendBytes(rescued_.data(), static_cast<int64_t>(rescued_.size()));
}

bool DatumReader::Malformed() {
  failure_ = {reason::kMalformedAvro, "the bytes do not follow the schema: " + cursor_.Explain()};
  return false;
}

bool DatumReader::Wrong(const Op& op, std::string_view reason, std::string_view found,
                        std::string_view expected) {
  return Fail(op, reason,
              fmt::format("found {}, expected {} for a column of type {}", found, expected,
                          op.column->type().ToString()));
}

bool DatumReader::Settle(const Op& op, std::string_view text, const CellOutcome& outcome) {
  if (outcome.ok()) [[likely]]
    return true;
  return Wrong(op, outcome.reason, Excerpt(text, kExcerptBytes), outcome.expected);
}

bool DatumReader::Fail(const Op& op, std::string_view reason, std::string detail) {
  failure_ = {reason, fmt::format("field '{}': {}", PathOf(op), detail)};
  return false;
}

/// The plan's path with the places of the open lists and maps in it.
std::string DatumReader::PathOf(const Op& op) const {
  const std::string& plain = plan_->paths[op.path];
  std::string path;
  size_t step = 0;
  for (size_t i = 0; i < plain.size(); ++i) {
    const bool is_list = plain.compare(i, 2, "[]") == 0;
    if (!is_list && plain.compare(i, 2, "{}") != 0) {
      path += plain[i];
      continue;
    }
    ++i;
    if (step < steps_.size()) {
      path += is_list ? fmt::format("[{}]", steps_[step].index)
                      : fmt::format(".{}", Excerpt(steps_[step].key, kExcerptBytes));
    }
    ++step;
  }
  return path;
}

}  // namespace firn::decode
