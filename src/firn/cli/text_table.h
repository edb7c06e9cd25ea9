#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/cli/output.h"

namespace firn::cli {

enum class Align : uint8_t { kLeft, kRight };

/// Rows of text under titles. A terminal gets aligned columns, a pipe one line a row with tabs between the
/// cells (tabs, line breaks and control characters inside cells are escaped either way).
class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column.
  void AddRow(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  std::string Aligned() const;
  /// Rows without titles, under columns of these widths (longer cells push theirs out).
  std::string AlignedRows(const std::vector<size_t>& widths) const;
  /// What Aligned gives each column.
  std::vector<size_t> Widths() const;
  std::string TabSeparated() const;
  /// The form that suits the output.
  void PrintTo(Output& out) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Columns a terminal needs for the text (wide and combining characters counted).
size_t DisplayWidth(std::string_view text);
/// The text with control characters as \n, \t, \xNN, so that data cannot steer a terminal or break a line.
std::string Printable(std::string_view text);
/// Cut to `width` columns with "..." where longer.
std::string Shortened(std::string_view text, size_t width);

}  // namespace firn::cli
