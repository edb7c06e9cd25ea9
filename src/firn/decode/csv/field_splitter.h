#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "firn/decode/csv/dialect.h"

namespace firn::decode {

/// One field of a record: without its quotes and escapes, and a byte that is part of no number behind it.
struct CsvField {
  std::string_view text;
  bool is_null = false;
};

enum class SplitOutcome : uint8_t {
  kOk,
  kUnclosedQuote,
  kTextAfterQuote,  ///< `"a"b`
  kSecondRecord,    ///< something follows the line break
};

/// Splits the text of one record (UTF-8, without or with its line break) into fields.
class FieldSplitter {
 public:
  explicit FieldSplitter(const CsvDialect& dialect) : dialect_(dialect) {}

  /// Works inside `text`, which is changed and must outlive the fields. `rest` (may be null: a second record
  /// is then an outcome of its own) gets where the next record begins.
  SplitOutcome Split(std::string* text, size_t begin, std::vector<CsvField>* fields, size_t* rest = nullptr);

 private:
  bool IsSpace(char c) const { return (c == ' ' || c == '\t') && c != dialect_.delimiter; }
  SplitOutcome TakeQuoted(CsvField* field);
  void TakePlain(CsvField* field);
  SplitOutcome TakeEnd(size_t* rest);

  const CsvDialect& dialect_;
  char* text_ = nullptr;
  size_t size_ = 0;
  size_t at_ = 0;
};

}  // namespace firn::decode
