#include "firn/decode/json/row_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "firn/base/bytes.h"
#include "firn/decode/json/infer_value.h"
#include "firn/decode/reasons.h"

namespace firn::decode {

using iceberg::TypeId;

namespace {

constexpr size_t kExcerptBytes = 60;
constexpr ptrdiff_t kQuickDigits = 18;  // fit 64 bits whatever they are

bool StartsNumber(uint8_t c) { return IsDigit(c) || c == '-'; }

/// A plain integer of few digits; false sends it to the slow, exact way.
bool ReadQuickly(const Walker& walker, const uint8_t* token, int64_t* value) {
  const uint8_t* at = token;
  const bool negative = *at == '-';
  if (negative) ++at;
  const uint8_t* digits = at;
  uint64_t magnitude = 0;
  while (IsDigit(*at)) magnitude = magnitude * 10 + (*at++ - '0');
  const ptrdiff_t count = at - digits;
  if (count == 0 || count > kQuickDigits || (count > 1 && *digits == '0') || !walker.EndsScalar(at))
    return false;
  *value = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  return true;
}

void AppendEscaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<uint8_t>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<uint8_t>(c));
    } else {
      out += c;
    }
  }
}

/// Entries (counted from the row's first) whose key comes again later.
std::vector<int64_t> FindSuperseded(const Column& keys, int64_t begin) {
  std::unordered_map<std::string_view, int64_t> last;
  std::vector<int64_t> superseded;
  for (int64_t i = begin; i < keys.length(); ++i) {
    auto [entry, is_new] = last.try_emplace(keys.CellBytes(i), i - begin);
    if (is_new) continue;
    superseded.push_back(entry->second);
    entry->second = i - begin;
  }
  std::sort(superseded.begin(), superseded.end());
  return superseded;
}

constexpr int64_t kFewEntries = 8;

bool HasRepeatedKey(const Column& keys, int64_t begin) {
  if (keys.length() - begin > kFewEntries) return !FindSuperseded(keys, begin).empty();
  for (int64_t i = begin; i < keys.length(); ++i) {
    for (int64_t j = begin; j < i; ++j) {
      if (keys.CellBytes(i) == keys.CellBytes(j)) return true;
    }
  }
  return false;
}

}  // namespace

RowOutcome RowParser::Parse(std::string_view text) {
  if (!needs_.empty()) needs_.clear();
  rescued_.clear();
  ignored_ = 0;
  const int64_t row = record_.root().length();
  if (!record_.bound().scalar_column.empty()) text = Apart(text);
  switch (walker_.Start(text)) {
    case IndexOutcome::kOk:
      return Finish(row, ParseRoot());
    case IndexOutcome::kEmpty:
      failure_ = {reason::kEmptyValue, "the record's value is empty"};
      return RowOutcome::kBad;
    case IndexOutcome::kInvalidUtf8:
      failure_ = {reason::kInvalidUtf8, "the record is not valid UTF-8"};
      return RowOutcome::kBad;
    case IndexOutcome::kMalformed:
      failure_ = {reason::kMalformedJson,
                  "not JSON: a string without end, or with a control character in it"};
      return RowOutcome::kBad;
  }
  return RowOutcome::kBad;
}

/// A copy with nothing but spaces behind it: a number that is all of a record would be read on into the next.
std::string_view RowParser::Apart(std::string_view text) {
  apart_ = text;
  apart_.append(record::kArenaPadding, ' ');
  return std::string_view(apart_).substr(0, text.size());
}

RowOutcome RowParser::Finish(int64_t row, bool parsed) {
  Column& root = record_.root();
  if (!parsed) {
    root.Truncate(row);
    Explain();
    return RowOutcome::kBad;
  }
  if (!needs_.empty()) [[unlikely]] {
    root.Truncate(row);
    return RowOutcome::kNeedsChange;
  }
  if (!rescued_.empty()) AppendRescued(row);
  root.EndStruct();
  return RowOutcome::kRow;
}

/// Whatever stopped the walk: a text that is not JSON is reported as that, also where a value before the
/// damage did not fit.
void RowParser::Explain() {
  const auto place = walker_.next();
  if (reason_ == reason::kMalformedJson || !walker_.ValidateAll()) {
    const auto* begin = std::min(place, walker_.next());
    const std::string_view rest(reinterpret_cast<const char*>(begin),
                                static_cast<size_t>(walker_.text_end() - begin));
    failure_ = {reason::kMalformedJson,
                rest.empty() ? std::string("not JSON: ends too early")
                             : fmt::format("not JSON, at or before {}", Excerpt(rest, kExcerptBytes))};
  } else {
    failure_ = {reason_, path_.empty() ? detail_ : fmt::format("field '{}': {}", path_, detail_)};
  }
  path_.clear();
  detail_.clear();
}

bool RowParser::Malformed() {
  reason_ = reason::kMalformedJson;
  return false;
}

bool RowParser::Wrong(const Column& column, const uint8_t* token, std::string_view reason,
                      std::string_view expected) {
  reason_ = reason;
  const uint8_t* end = *token == '{' || *token == '[' ? walker_.text_end() : walker_.next();
  std::string_view found(reinterpret_cast<const char*>(token), static_cast<size_t>(end - token));
  while (!found.empty() && static_cast<uint8_t>(found.back()) <= ' ') found.remove_suffix(1);
  detail_ = fmt::format("found {}, expected {} for a column of type {}", Excerpt(found, kExcerptBytes),
                        expected, column.type().ToString());
  path_.clear();
  return false;
}

bool RowParser::Mismatch(const Column& column, const uint8_t* token) {
  return Wrong(column, token, reason::kTypeMismatch, ExpectedJson(column));
}

/// Adds a step to the path of the failure on the way up.
bool RowParser::Through(std::string_view key) {
  const bool needs_dot = !path_.empty() && path_.front() != '[';
  path_.insert(0, fmt::format("{}{}", key, needs_dot ? "." : ""));
  return false;
}

void RowParser::PrefixRescued(size_t since, std::string_view key) {
  for (size_t i = since; i < rescued_.size(); ++i) {
    std::string& path = rescued_[i].path;
    path.insert(0, fmt::format("{}{}", key, path.starts_with('[') ? "" : "."));
  }
}

bool RowParser::ParseRoot() {
  Column& root = record_.root();
  const int64_t row = root.length();
  if (walker_.Peek() != '{') {
    if (KeySlot* slot = record_.scalar_slot(); slot != nullptr && walker_.Peek() != '[') {
      return ParseMember(*slot, record_.root_shape(), row) && (walker_.at_end() || Malformed()) &&
             CheckRequired(root, row);
    }
    reason_ = reason::kNotAnObject;
    detail_ = "the record is JSON, but no object";
    path_.clear();
    return false;
  }
  walker_.Take();
  if (!walker_.TakeIf('}')) {
    if (!walker_.Descend()) return Malformed();
    if (!ParseMembers(record_.root_shape(), row)) return false;
  }
  if (!walker_.at_end()) return Malformed();
  return CheckRequired(root, row);
}

bool RowParser::CheckRequired(Column& column, int64_t row) {
  for (Column* child : column.required_children()) {
    if (child->length() == row + 1) [[likely]]
      continue;
    if (child->has_default()) {
      child->Align(row + 1);
      continue;
    }
    reason_ = reason::kMissingRequired;
    detail_ = fmt::format("a column of type {} is required, but the record has no such field",
                          child->type().ToString());
    path_ = child->field().name;
    return false;
  }
  return true;
}

/// Behind the opening brace of an object that is not empty.
bool RowParser::ParseMembers(ObjectShape& shape, int64_t row) {
  KeySlot* previous = shape.head();
  for (;;) {
    if (walker_.Peek() != '"') return Malformed();
    const uint8_t* key = walker_.Take();
    KeySlot* slot = previous->next;
    if (slot == nullptr || !slot->Matches(key + 1, walker_.text_end())) [[unlikely]] {
      slot = FindSlot(shape, key);
      if (slot == nullptr) return Malformed();
      previous->next = slot;
    }
    previous = slot;
    if (!walker_.TakeIf(':')) return Malformed();
    if (!ParseMember(*slot, shape, row)) return false;
    if (walker_.at_end()) return Malformed();
    const uint8_t token = *walker_.Take();
    if (token == ',') continue;
    if (token != '}') return Malformed();
    walker_.Ascend();
    return true;
  }
}

KeySlot* RowParser::FindSlot(ObjectShape& shape, const uint8_t* key_token) {
  std::string_view name;
  if (!walker_.ReadString(key_token, &name)) return nullptr;
  KeySlot* slot = shape.Find(name);
  return slot != nullptr ? slot : record_.Remember(shape, name);
}

bool RowParser::ParseMember(KeySlot& slot, ObjectShape& shape, int64_t row) {
  switch (slot.action) {
    case KeySlot::Action::kColumn: {
      slot.column->Align(row);
      const size_t rescued_before = rescued_.size();
      if (!ParseValue(*slot.column)) return Through(slot.name);
      if (rescued_.size() != rescued_before) [[unlikely]]
        PrefixRescued(rescued_before, slot.name);
      return true;
    }
    case KeySlot::Action::kObject:
      return ParseMappedObject(slot, row);
    case KeySlot::Action::kUnknown:
      return ParseUnknown(slot, shape);
  }
  return Malformed();
}

bool RowParser::ParseMappedObject(KeySlot& slot, int64_t row) {
  if (walker_.at_end()) return Malformed();
  const uint8_t* token = walker_.Take();
  if (*token == 'n') return walker_.IsNull(token) || Malformed();
  if (*token != '{') {
    reason_ = reason::kTypeMismatch;
    detail_ = "expected an object, as columns are mapped to fields inside it";
    path_ = slot.name;
    return false;
  }
  if (walker_.TakeIf('}')) return true;
  const size_t rescued_before = rescued_.size();
  if (!walker_.Descend()) return Malformed();
  if (!ParseMembers(*slot.object, row)) return Through(slot.name);
  if (rescued_.size() != rescued_before) PrefixRescued(rescued_before, slot.name);
  return true;
}

bool RowParser::ParseUnknown(const KeySlot& slot, const ObjectShape& shape) {
  if (slot.addable) return ParseNewField(slot, shape);
  const uint8_t* begin = walker_.next();
  const std::string name = record_.rescued() != nullptr ? slot.name : std::string();
  const uint8_t* end = walker_.SkipValue();
  if (end == nullptr) return Malformed();
  switch (record_.bound().unknown_fields) {
    case UnknownFields::kIgnore:
      ++ignored_;
      return true;
    case UnknownFields::kRescue:
      rescued_.push_back({name, {reinterpret_cast<const char*>(begin), static_cast<size_t>(end - begin)}});
      return true;
    case UnknownFields::kDeadLetter:
      reason_ = reason::kUnknownField;
      detail_ = fmt::format("unknown field: {}", slot.why_not);
      path_ = slot.name;
      return false;
  }
  return true;
}

bool RowParser::ParseNewField(const KeySlot& slot, const ObjectShape& shape) {
  const uint8_t* begin = walker_.next();
  std::optional<InferredType> type = InferValue(walker_);
  if (!type) return Malformed();
  if (type->is_waiting()) {
    ++ignored_;
    return true;
  }
  const auto same = [&](const Needs::Field& need) {
    return need.parent_id == shape.parent_id() && need.name == slot.name;
  };
  auto need = std::find_if(needs_.added.begin(), needs_.added.end(), same);
  if (need == needs_.added.end()) {
    needs_.added.push_back({shape.parent_id(), slot.name, {}});
    need = needs_.added.end() - 1;
  }
  need->type.Merge(*type);
  const std::string conflict = need->type.FindConflict();
  if (conflict.empty()) return true;
  reason_ = reason::kTypeConflict;
  const std::string_view found(reinterpret_cast<const char*>(begin),
                               static_cast<size_t>(walker_.next() - begin));
  detail_ = fmt::format("a new field whose values have no common type ({}): {}", conflict,
                        Excerpt(found, kExcerptBytes));
  path_ = slot.name;
  return false;
}

bool RowParser::ParseValue(Column& column) {
  if (walker_.at_end()) return Malformed();
  const uint8_t* token = walker_.Take();
  if (*token == 'n') return ParseNull(column, token);
  switch (column.type_id()) {
    case TypeId::kString:
      return ParseString(column, token);
    case TypeId::kInt:
      return ParseInt(column, token);
    case TypeId::kLong:
      return ParseLong(column, token);
    case TypeId::kBoolean:
      return ParseBoolean(column, token);
    case TypeId::kStruct:
      return ParseStruct(column, token);
    case TypeId::kList:
      return ParseList(column, token);
    case TypeId::kMap:
      return ParseMap(column, token);
    case TypeId::kUnknown:
      return Mismatch(column, token);
    default:
      return ParseScalar(column, token);
  }
}

bool RowParser::ParseNull(Column& column, const uint8_t* token) {
  if (!walker_.IsNull(token)) return Malformed();
  if (column.required())
    return Wrong(column, token, reason::kNullRequired, "a value, as the column is required,");
  column.AppendNull();
  return true;
}

bool RowParser::ParseString(Column& column, const uint8_t* token) {
  if (*token != '"') return Mismatch(column, token);
  const uint8_t* from = token + 1;
  uint8_t* out = column.BeginBytes(walker_.next() - from);
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  for (int64_t at = 0;; at += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + at), block);
    const auto quotes = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, quote)));
    const auto backslashes = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, backslash)));
    if ((quotes | backslashes) == 0) continue;
    if (((quotes - 1) & backslashes) == 0 && quotes != 0) {
      column.EndBytes(at + __builtin_ctz(quotes));
      return true;
    }
    break;
  }
#else
  const uint8_t* stop = FindQuoteOrBackslash(from);
  if (*stop == '"') {
    std::memcpy(out, from, static_cast<size_t>(stop - from));
    column.EndBytes(stop - from);
    return true;
  }
#endif
  const uint8_t* end = walker_.Unescape(from, out);
  if (end == nullptr) return Malformed();
  column.EndBytes(end - out);
  return true;
}

bool RowParser::ParseBoolean(Column& column, const uint8_t* token) {
  if (*token == 't' && walker_.IsTrue(token)) {
    column.AppendFixed(uint8_t{1});
  } else if (*token == 'f' && walker_.IsFalse(token)) {
    column.AppendFixed(uint8_t{0});
  } else {
    return Mismatch(column, token);
  }
  return true;
}

bool RowParser::ParseInt(Column& column, const uint8_t* token) {
  int64_t value = 0;
  constexpr auto kLimits = std::numeric_limits<int32_t>();
  if (!ReadQuickly(walker_, token, &value) || value < kLimits.min() || value > kLimits.max()) [[unlikely]] {
    return ParseScalar(column, token);
  }
  column.AppendFixed(static_cast<int32_t>(value));
  return true;
}

bool RowParser::ParseLong(Column& column, const uint8_t* token) {
  int64_t value = 0;
  if (!ReadQuickly(walker_, token, &value)) [[unlikely]]
    return ParseScalar(column, token);
  column.AppendFixed(value);
  return true;
}

bool RowParser::ParseScalar(Column& column, const uint8_t* token) {
  if (*token == '"') {
    std::string_view text;
    if (!walker_.ReadString(token, &text)) return Malformed();
    return Settle(column, token, AppendText(column, text));
  }
  if (!StartsNumber(*token)) return Mismatch(column, token);
  NumberText number;
  if (!ScanNumber(token, &number) || !walker_.EndsScalar(number.end)) return Malformed();
  return Settle(column, token, AppendNumber(column, number, column.binding().epoch_digits));
}

bool RowParser::Settle(Column& column, const uint8_t* token, const CellOutcome& outcome) {
  if (outcome.ok()) [[likely]]
    return true;
  if (outcome.fits_wider && column.binding().may_widen) return Widen(column, outcome);
  return Wrong(column, token, outcome.reason, outcome.expected);
}

/// Notes the wider type; the row is dropped at its end, so any cell will do.
bool RowParser::Widen(Column& column, const CellOutcome& outcome) {
  needs_.widened.push_back({column.field().id, WiderType(column, outcome)});
  column.AppendNull();
  return true;
}

bool RowParser::ParseStruct(Column& column, const uint8_t* token) {
  if (*token != '{') return Mismatch(column, token);
  const int64_t row = column.length();
  if (!walker_.TakeIf('}')) {
    if (!walker_.Descend()) return Malformed();
    if (!ParseMembers(*column.binding().shape, row)) return false;
  }
  if (!CheckRequired(column, row)) return false;
  column.EndStruct();
  return true;
}

bool RowParser::ParseList(Column& column, const uint8_t* token) {
  if (*token != '[') return Mismatch(column, token);
  Column& element = column.child(0);
  const int64_t first = element.length();
  if (!walker_.TakeIf(']')) {
    if (!walker_.Descend()) return Malformed();
    for (;;) {
      const size_t rescued_before = rescued_.size();
      if (!ParseValue(element)) return Through(fmt::format("[{}]", element.length() - first));
      if (rescued_.size() != rescued_before) [[unlikely]] {
        PrefixRescued(rescued_before, fmt::format("[{}]", element.length() - first - 1));
      }
      if (walker_.at_end()) return Malformed();
      const uint8_t next = *walker_.Take();
      if (next == ']') break;
      if (next != ',') return Malformed();
    }
    walker_.Ascend();
  }
  column.EndList();
  return true;
}

bool RowParser::ParseMap(Column& column, const uint8_t* token) {
  if (*token != '{') return Mismatch(column, token);
  if (!walker_.TakeIf('}')) {
    if (!walker_.Descend()) return Malformed();
    Column& keys = column.child(0);
    const int64_t first = keys.length();
    const uint32_t* start = walker_.mark();
    const size_t rescued_before = rescued_.size();
    if (!ParseMapEntries(column, {})) return false;
    if (HasRepeatedKey(keys, first)) {
      // The later of equal keys wins: once more, without the earlier ones.
      const std::vector<int64_t> superseded = FindSuperseded(keys, first);
      column.Truncate(column.length());
      rescued_.resize(rescued_before);
      walker_.Return(start);
      if (!ParseMapEntries(column, superseded)) return false;
    }
    walker_.Ascend();
  }
  column.EndList();
  return true;
}

bool RowParser::ParseMapEntries(Column& column, const std::vector<int64_t>& superseded) {
  auto next_superseded = superseded.begin();
  for (int64_t entry = 0;; ++entry) {
    if (walker_.Peek() != '"') return Malformed();
    if (next_superseded != superseded.end() && *next_superseded == entry) {
      ++next_superseded;
      walker_.Take();
      if (!walker_.TakeIf(':') || walker_.SkipValue() == nullptr) return Malformed();
    } else if (!ParseMapEntry(column)) {
      return false;
    }
    if (walker_.at_end()) return Malformed();
    const uint8_t token = *walker_.Take();
    if (token == '}') return true;
    if (token != ',') return Malformed();
  }
}

bool RowParser::ParseMapEntry(Column& column) {
  const uint8_t* token = walker_.Take();
  std::string_view key;
  if (!walker_.ReadString(token, &key)) return Malformed();
  const CellOutcome outcome = AppendMapKey(column.child(0), key);
  if (!outcome.ok()) return Wrong(column.child(0), token, reason::kBadMapKey, outcome.expected);
  if (!walker_.TakeIf(':')) return Malformed();
  const size_t rescued_before = rescued_.size();
  const auto name = [&] {
    const Column& keys = column.child(0);
    return keys.type_id() == TypeId::kString ? std::string(keys.CellBytes(keys.length() - 1))
                                             : std::string("value");
  };
  if (!ParseValue(column.child(1))) return Through(name());
  if (rescued_.size() != rescued_before) PrefixRescued(rescued_before, name());
  return true;
}

void RowParser::AppendRescued(int64_t row) {
  std::string& text = rescued_text_;
  text = "{";
  for (const Rescued& field : rescued_) {
    text += text.size() == 1 ? "\"" : ",\"";
    AppendEscaped(text, field.path);
    text += "\":";
    text += field.raw;
  }
  text += '}';
  record_.rescued()->Align(row);
  record_.rescued()->AppendBytes(text.data(), static_cast<int64_t>(text.size()));
}

}  // namespace firn::decode
