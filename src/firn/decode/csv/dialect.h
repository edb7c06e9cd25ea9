#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace firn::decode {

enum class CsvEncoding : uint8_t { kUtf8, kUtf16Le, kUtf16Be, kLatin1, kWindows1252 };
enum class RaggedRows : uint8_t { kBad, kAllowMissingTrailing };

/// How one kind of CSV is written. The defaults are RFC 4180; docs/csv.md explains each.
struct CsvDialect {
  char delimiter = ',';
  std::optional<char> quote = '"';
  bool backslash_escapes = false;  ///< beside doubled quotes, which are always understood inside quotes
  std::optional<bool> header;      ///< empty: files have one unless `columns` is set, messages have none
  std::vector<std::string> columns;
  std::optional<char> comment;
  std::string null_text;  ///< a field without quotes that reads exactly so is null
  bool trim = false;
  CsvEncoding encoding = CsvEncoding::kUtf8;
  RaggedRows ragged_rows = RaggedRows::kBad;
  int64_t max_record_bytes = int64_t{1} << 20;  ///< of a file; a longer record is a bad one

  /// Bytes from which on a record of a file is too long, in whole code units.
  size_t too_long_bytes() const { return static_cast<size_t>(max_record_bytes - max_record_bytes % 2); }
  bool has_header(bool in_file) const { return header.value_or(in_file && columns.empty()); }
};

}  // namespace firn::decode
