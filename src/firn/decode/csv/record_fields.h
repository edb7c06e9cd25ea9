#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/decode/csv/dialect.h"
#include "firn/decode/csv/field_splitter.h"
#include "firn/decode/row_decoder.h"
#include "firn/record/raw_batch.h"

namespace firn::decode {

/// A batch's records as fields, with the names that are known for them. Not thread-safe.
class RecordFields {
 public:
  explicit RecordFields(const CsvDialect& dialect) : dialect_(dialect), splitter_(dialect_) {}
  RecordFields(const RecordFields&) = delete;
  RecordFields& operator=(const RecordFields&) = delete;

  /// What the records of a batch have in common. False when its header is damaged: see failure().
  bool Enter(const record::RawBatch& raw);
  /// False when the record cannot be split: see failure().
  bool Split(std::string_view value);

  const std::vector<CsvField>& fields() const { return fields_; }
  /// Empty where fields have no names.
  const std::vector<std::string>& names() const { return names_; }
  /// Rises whenever the names change.
  int64_t names_version() const { return names_version_; }
  const Failure& failure() const { return failure_; }

 private:
  void SetNames(std::vector<std::string> names);
  bool Fail(std::string_view reason, std::string message);
  bool FailSplit(SplitOutcome outcome);

  const CsvDialect dialect_;
  FieldSplitter splitter_;
  bool in_file_ = false;
  bool header_in_message_ = false;
  std::string text_;
  std::vector<CsvField> fields_;
  std::vector<std::string> names_;
  int64_t names_version_ = 0;
  Failure failure_;
};

}  // namespace firn::decode
