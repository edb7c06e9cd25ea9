#include "firn/cli/text_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <utf8proc.h>

#include "firn/base/check.h"

namespace firn::cli {

namespace {

/// Decodes one character; bytes that are no UTF-8 count as one character each.
size_t NextCharacter(std::string_view text, utf8proc_int32_t& code) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (length > 0) return static_cast<size_t>(length);
  code = -1;
  return 1;
}

size_t CharacterWidth(utf8proc_int32_t code) {
  return code < 0 ? 1 : static_cast<size_t>(std::max(0, utf8proc_charwidth(code)));
}

std::string Padded(const std::string& cell, size_t width, Align align, bool last) {
  const std::string space(width - std::min(width, DisplayWidth(cell)), ' ');
  if (align == Align::kRight) return space + cell;
  return last ? cell : cell + space;
}

std::string EscapedControl(utf8proc_int32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return fmt::format("\\x{:02x}", code);
  }
}

bool IsControl(utf8proc_int32_t code) { return (code >= 0 && code < 0x20) || (code >= 0x7f && code < 0xa0); }

}  // namespace

void TextTable::AddRow(std::vector<std::string> cells) {
  FIRN_CHECK(cells.size() == columns_.size(), "a row has one cell per column");
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back(std::move(cells));
}

std::vector<size_t> TextTable::Widths() const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(DisplayWidth(column.title));
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  return widths;
}

std::string TextTable::Aligned() const {
  const std::vector<size_t> widths = Widths();
  std::string titles;
  std::string rule;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const bool last = i + 1 == columns_.size();
    titles += Padded(columns_[i].title, widths[i], columns_[i].align, last) + (last ? "" : "  ");
    rule += std::string(widths[i], '-') + (last ? "" : "  ");
  }
  return titles + "\n" + rule + "\n" + AlignedRows(widths);
}

std::string TextTable::AlignedRows(const std::vector<size_t>& widths) const {
  std::string text;
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      text += Padded(row[i], widths[i], columns_[i].align, last) + (last ? "\n" : "  ");
    }
  }
  return text;
}

std::string TextTable::TabSeparated() const {
  std::string text;
  for (size_t i = 0; i < columns_.size(); ++i) text += (i == 0 ? "" : "\t") + columns_[i].title;
  text += '\n';
  for (const auto& row : rows_) text += fmt::format("{}\n", fmt::join(row, "\t"));
  return text;
}

void TextTable::PrintTo(Output& out) const { out.Write(out.is_terminal() ? Aligned() : TabSeparated()); }

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    utf8proc_int32_t code = 0;
    text.remove_prefix(NextCharacter(text, code));
    width += CharacterWidth(code);
  }
  return width;
}

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    utf8proc_int32_t code = 0;
    const size_t length = NextCharacter(text, code);
    if (code < 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (IsControl(code)) {
      out += EscapedControl(code);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string Shortened(std::string_view text, size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  constexpr std::string_view kMark = "...";
  const size_t room = width > kMark.size() ? width - kMark.size() : 0;
  std::string out;
  size_t used = 0;
  while (!text.empty()) {
    utf8proc_int32_t code = 0;
    const size_t length = NextCharacter(text, code);
    used += CharacterWidth(code);
    if (used > room) break;
    out += text.substr(0, length);
    text.remove_prefix(length);
  }
  return out.append(kMark.substr(0, width));
}

}  // namespace firn::cli
