#include "firn/decode/csv/field_splitter.h"

#include <algorithm>

namespace firn::decode {

namespace {

bool IsLineBreak(char c) { return c == '\n' || c == '\r'; }

}  // namespace

SplitOutcome FieldSplitter::Split(std::string* text, size_t begin, std::vector<CsvField>* fields,
                                  size_t* rest) {
  fields->clear();
  text_ = text->data();
  size_ = text->size();
  at_ = begin;
  for (;;) {
    CsvField field;
    size_t start = at_;
    while (dialect_.trim && start < size_ && IsSpace(text_[start])) ++start;
    if (dialect_.quote && start < size_ && text_[start] == *dialect_.quote) {
      at_ = start + 1;
      if (const SplitOutcome outcome = TakeQuoted(&field); outcome != SplitOutcome::kOk) return outcome;
    } else {
      at_ = start;
      TakePlain(&field);
    }
    fields->push_back(field);
    if (at_ == size_ || text_[at_] != dialect_.delimiter) return TakeEnd(rest);
    text_[at_++] = '\0';
  }
}

/// Behind the opening quote. What the field loses by its escapes is closed up in place.
SplitOutcome FieldSplitter::TakeQuoted(CsvField* field) {
  const char quote = *dialect_.quote;
  const size_t begin = at_;
  size_t out = at_;
  for (;; ++at_) {
    if (at_ >= size_) return SplitOutcome::kUnclosedQuote;
    const char c = text_[at_];
    if (c == '\\' && dialect_.backslash_escapes) {
      if (++at_ >= size_) return SplitOutcome::kUnclosedQuote;
    } else if (c == quote) {
      if (at_ + 1 >= size_ || text_[at_ + 1] != quote) break;
      ++at_;
    }
    text_[out++] = text_[at_];
  }
  text_[out] = '\0';
  field->text = {text_ + begin, out - begin};
  ++at_;
  while (dialect_.trim && at_ < size_ && IsSpace(text_[at_])) ++at_;
  const bool ends = at_ == size_ || text_[at_] == dialect_.delimiter || IsLineBreak(text_[at_]);
  return ends ? SplitOutcome::kOk : SplitOutcome::kTextAfterQuote;
}

void FieldSplitter::TakePlain(CsvField* field) {
  const size_t begin = at_;
  bool has_escape = false;
  for (; at_ < size_; ++at_) {
    const char c = text_[at_];
    if (c == dialect_.delimiter || IsLineBreak(c)) break;
    if (c == '\\' && dialect_.backslash_escapes && at_ + 1 < size_) {
      has_escape = true;
      ++at_;
    }
  }
  size_t end = at_;
  while (dialect_.trim && end > begin && IsSpace(text_[end - 1])) --end;
  field->text = {text_ + begin, end - begin};
  field->is_null = field->text == dialect_.null_text;
  if (!has_escape || field->is_null) return;
  size_t out = begin;
  for (size_t i = begin; i < end; ++i) {
    if (text_[i] == '\\' && i + 1 < end) ++i;
    text_[out++] = text_[i];
  }
  if (out < end) text_[out] = '\0';
  field->text = {text_ + begin, out - begin};
}

SplitOutcome FieldSplitter::TakeEnd(size_t* rest) {
  const size_t end = at_;
  if (at_ < size_ && text_[at_] == '\r') ++at_;
  if (at_ < size_ && text_[at_] == '\n') ++at_;
  if (end < size_) text_[end] = '\0';
  if (rest != nullptr) {
    *rest = at_;
    return SplitOutcome::kOk;
  }
  while (at_ < size_ && IsLineBreak(text_[at_])) ++at_;
  return at_ == size_ ? SplitOutcome::kOk : SplitOutcome::kSecondRecord;
}

}  // namespace firn::decode
