#include "firn/decode/avro/datum_json.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/bytes.h"
#include "firn/base/time.h"
#include "firn/decode/avro/avro_types.h"
#include "firn/iceberg/model/decimal.h"

namespace firn::decode {

using avro::Cursor;
using avro::Kind;
using avro::Node;

namespace {

constexpr int kMaxDepth = 200;

std::string Quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <typename T>
std::string NumberText(T value) {
  return std::isfinite(value) ? fmt::format("{}", value) : Quoted(fmt::format("{}", value));
}

std::string IntegerText(const Node& node, int64_t value) {
  const ZoneSuffix suffix = LogicalOf(node) == AvroLogical::kTimestamp ? ZoneSuffix::kZ : ZoneSuffix::kNone;
  int64_t micros = 0;
  switch (LogicalOf(node)) {
    case AvroLogical::kDate:
      return Quoted(FormatDate(static_cast<int32_t>(value)));
    case AvroLogical::kTime:
    case AvroLogical::kTimestamp:
    case AvroLogical::kLocalTimestamp:
      break;
    default:
      return fmt::format("{}", value);
  }
  if (DigitsOf(node) == 9) return Quoted(FormatTimestampNanos(value, suffix));
  if (__builtin_mul_overflow(value, DigitsOf(node) == 3 ? 1000 : 1, &micros)) return fmt::format("{}", value);
  if (LogicalOf(node) != AvroLogical::kTime) return Quoted(FormatTimestampMicros(micros, suffix));
  return micros >= 0 && micros < kMicrosPerDay ? Quoted(FormatTime(micros)) : fmt::format("{}", value);
}

std::string BytesText(const Node& node, std::string_view bytes) {
  Int128 unscaled = 0;
  if (LogicalOf(node) == AvroLogical::kDecimal && iceberg::DecimalFromBytes(bytes, unscaled))
    return iceberg::FormatDecimal(unscaled, node.scale);
  return Quoted(Base64Encode(bytes));
}

/// Recursive, but only as deep as it is allowed.
class Writer {
 public:
  Writer(Cursor* cursor, std::string* out) : cursor_(*cursor), out_(*out) {}

  bool Write(const Node& node, int depth) {
    if (depth > kMaxDepth) return cursor_.Refuse("nested too deeply");
    switch (node.kind) {
      case Kind::kNull:
        out_ += "null";
        return true;
      case Kind::kRecord:
        return WriteRecord(node, depth);
      case Kind::kArray:
        return WriteItems(node, '[', ']', [&] { return Write(*node.items, depth + 1); });
      case Kind::kMap:
        return WriteItems(node, '{', '}', [&] {
          std::string_view key;
          if (!cursor_.ReadBytes(&key)) return false;
          out_ += Quoted(key) + ":";
          return Write(*node.items, depth + 1);
        });
      case Kind::kUnion: {
        size_t branch = 0;
        return cursor_.ReadIndex(node.branches.size(), &branch) && Write(*node.branches[branch], depth + 1);
      }
      default:
        return WriteScalar(node);
    }
  }

 private:
  bool WriteRecord(const Node& node, int depth) {
    out_ += '{';
    for (size_t i = 0; i < node.fields.size(); ++i) {
      out_ += (i == 0 ? "" : ",") + Quoted(node.fields[i].name) + ":";
      if (!Write(*node.fields[i].type, depth + 1)) return false;
    }
    out_ += '}';
    return true;
  }

  template <typename Each>
  bool WriteItems(const Node& node, char open, char close, Each&& each) {
    const int64_t min_bytes = node.items->min_bytes + (node.kind == Kind::kMap ? 1 : 0);
    out_ += open;
    for (bool first = true;;) {
      int64_t count = 0;
      if (!cursor_.ReadBlockCount(min_bytes, &free_items_, &count)) return false;
      if (count == 0) break;
      for (int64_t i = 0; i < count; ++i, first = false) {
        if (!first) out_ += ',';
        if (!each()) return false;
      }
    }
    out_ += close;
    return true;
  }

  bool WriteScalar(const Node& node) {
    std::string_view bytes;
    switch (node.kind) {
      case Kind::kBoolean: {
        bool value = false;
        if (!cursor_.ReadBoolean(&value)) return false;
        out_ += value ? "true" : "false";
        return true;
      }
      case Kind::kInt:
      case Kind::kLong: {
        int64_t value = 0;
        int32_t narrow = 0;
        if (node.kind == Kind::kInt ? !cursor_.ReadInt(&narrow) : !cursor_.ReadLong(&value)) return false;
        out_ += IntegerText(node, node.kind == Kind::kInt ? narrow : value);
        return true;
      }
      case Kind::kFloat: {
        float value = 0;
        if (!cursor_.ReadFloat(&value)) return false;
        out_ += NumberText(value);
        return true;
      }
      case Kind::kDouble: {
        double value = 0;
        if (!cursor_.ReadDouble(&value)) return false;
        out_ += NumberText(value);
        return true;
      }
      case Kind::kEnum: {
        size_t index = 0;
        if (!cursor_.ReadIndex(node.symbols.size(), &index)) return false;
        out_ += Quoted(node.symbols[index]);
        return true;
      }
      case Kind::kString:
        if (!cursor_.ReadBytes(&bytes)) return false;
        out_ += Quoted(bytes);
        return true;
      case Kind::kBytes:
        if (!cursor_.ReadBytes(&bytes)) return false;
        out_ += BytesText(node, bytes);
        return true;
      default:  // fixed
        if (!cursor_.ReadFixed(node.size_bytes, &bytes)) return false;
        out_ += BytesText(node, bytes);
        return true;
    }
  }

  Cursor& cursor_;
  std::string& out_;
  int64_t free_items_ = 4096;
};

}  // namespace

bool WriteDatumJson(const Node& node, Cursor* cursor, std::string* out) {
  return Writer(cursor, out).Write(node, 0);
}

}  // namespace firn::decode
