#include "firn/decode/csv/record_fields.h"

#include <utility>

#include <fmt/format.h>

#include "firn/base/bytes.h"
#include "firn/decode/csv/encoding.h"
#include "firn/decode/reasons.h"

namespace firn::decode {

namespace {

constexpr size_t kExcerptBytes = 60;

std::vector<std::string> NamesIn(const std::vector<CsvField>& fields) {
  std::vector<std::string> names;
  for (const CsvField& field : fields) names.emplace_back(field.text);
  return names;
}

}  // namespace

bool RecordFields::Enter(const record::RawBatch& raw) {
  in_file_ = raw.file != nullptr;
  header_in_message_ = !in_file_ && dialect_.has_header(false);
  if (!dialect_.columns.empty() || !in_file_ || raw.file->schema.empty()) {
    SetNames(dialect_.columns);
    return true;
  }
  std::string header = raw.file->schema;
  std::vector<CsvField> fields;
  if (splitter_.Split(&header, 0, &fields) != SplitOutcome::kOk) {
    failure_ = {reason::kBadHeader,
                fmt::format("the file's header is not CSV: {}", Excerpt(raw.file->schema, kExcerptBytes))};
    return false;
  }
  SetNames(NamesIn(fields));
  return true;
}

bool RecordFields::Split(std::string_view value) {
  if (in_file_ && value.size() >= dialect_.too_long_bytes()) {
    return Fail(reason::kRecordTooLong,
                fmt::format("the record has {} bytes or more; is a quote missing, or max_record_bytes too "
                            "small?",
                            dialect_.too_long_bytes()));
  }
  if (!ToUtf8(value, dialect_.encoding, &text_)) {
    return Fail(reason::kInvalidUtf8, fmt::format("the record is not valid {}", ToString(dialect_.encoding)));
  }
  size_t begin = 0;
  if (header_in_message_) {
    const SplitOutcome outcome = splitter_.Split(&text_, 0, &fields_, &begin);
    if (outcome != SplitOutcome::kOk) return FailSplit(outcome);
    if (dialect_.columns.empty()) SetNames(NamesIn(fields_));
  }
  if (text_.find_first_not_of("\r\n \t", begin) == std::string::npos)
    return Fail(reason::kEmptyValue, "the record is empty");
  const SplitOutcome outcome = splitter_.Split(&text_, begin, &fields_);
  return outcome == SplitOutcome::kOk || FailSplit(outcome);
}

void RecordFields::SetNames(std::vector<std::string> names) {
  if (names == names_) return;
  names_ = std::move(names);
  ++names_version_;
}

bool RecordFields::Fail(std::string_view reason, std::string message) {
  failure_ = {reason, std::move(message)};
  return false;
}

bool RecordFields::FailSplit(SplitOutcome outcome) {
  switch (outcome) {
    case SplitOutcome::kUnclosedQuote:
      return Fail(reason::kUnclosedQuote, "a quote has no end");
    case SplitOutcome::kTextAfterQuote:
      return Fail(reason::kMalformedCsv, "text stands between a closing quote and the delimiter");
    default:
      return Fail(reason::kMalformedCsv, "the message holds more than one record");
  }
}

}  // namespace firn::decode
