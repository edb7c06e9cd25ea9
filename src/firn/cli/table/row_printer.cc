#include "firn/cli/table/row_printer.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/cli/text_table.h"

namespace firn::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kRowsForWidths = 1'000;  ///< a table's columns are as wide as these rows need
constexpr size_t kMaxCellWidth = 80;

std::string Dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string CellText(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : Dump(value);
}

bool IsNumber(const iceberg::Type& type) {
  switch (type.id()) {
    case iceberg::TypeId::kInt:
    case iceberg::TypeId::kLong:
    case iceberg::TypeId::kFloat:
    case iceberg::TypeId::kDouble:
    case iceberg::TypeId::kDecimal:
      return true;
    default:
      return false;
  }
}

class JsonLinesPrinter final : public RowPrinter {
 public:
  explicit JsonLinesPrinter(Output& out) : out_(out) {}
  void Print(const Json& row) override { out_.Write(Dump(row) + "\n"); }
  void End() override {}

 private:
  Output& out_;
};

class CsvPrinter final : public RowPrinter {
 public:
  CsvPrinter(const iceberg::Schema& schema, Output& out) : out_(out) {
    std::string line;
    for (const iceberg::NestedField& field : schema.fields())
      line += (line.empty() ? "" : ",") + Quoted(field.name);
    out_.Write(line + "\n");
  }

  void Print(const Json& row) override {
    std::string line;
    bool first = true;
    for (const auto& [name, value] : row.items()) {
      if (!std::exchange(first, false)) line += ',';
      if (!value.is_null()) line += Quoted(CellText(value));
    }
    out_.Write(line + "\n");
  }
  void End() override {}

 private:
  static std::string Quoted(const std::string& text) {
    if (!text.empty() && text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
  }

  Output& out_;
};

/// Holds the first rows back until it knows how wide they are; later ones use the same widths.
class TablePrinter final : public RowPrinter {
 public:
  TablePrinter(const iceberg::Schema& schema, Output& out) : out_(out) {
    for (const iceberg::NestedField& field : schema.fields()) {
      columns_.push_back({Printable(field.name), IsNumber(*field.type) ? Align::kRight : Align::kLeft});
    }
  }

  void Print(const Json& row) override {
    std::vector<std::string> cells;
    for (const auto& [name, value] : row.items())
      cells.push_back(Shortened(Printable(CellText(value)), kMaxCellWidth));
    rows_.push_back(std::move(cells));
    if (rows_.size() == kRowsForWidths) PrintHeld();
  }
  void End() override {
    if (!rows_.empty() || !titled_) PrintHeld();
  }

 private:
  void PrintHeld() {
    TextTable table(columns_);
    for (std::vector<std::string>& row : rows_) table.AddRow(std::move(row));
    rows_.clear();
    out_.Write(titled_ ? table.AlignedRows(widths_) : table.Aligned());
    if (!titled_) widths_ = table.Widths();
    titled_ = true;
  }

  Output& out_;
  std::vector<TextTable::Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<size_t> widths_;
  bool titled_ = false;
};

}  // namespace

Result<RowFormat> ParseRowFormat(const std::string& text) {
  if (text == "table") return RowFormat::kTable;
  if (text == "csv") return RowFormat::kCsv;
  if (text == "jsonl") return RowFormat::kJsonLines;
  return Error(ErrorKind::kInvalidArgument, fmt::format("--format '{}' is not table, csv or jsonl", text));
}

std::unique_ptr<RowPrinter> MakeRowPrinter(RowFormat format, const iceberg::Schema& schema, Output& out) {
  switch (format) {
    case RowFormat::kCsv:
      return std::make_unique<CsvPrinter>(schema, out);
    case RowFormat::kJsonLines:
      return std::make_unique<JsonLinesPrinter>(out);
    case RowFormat::kTable:
      break;
  }
  return std::make_unique<TablePrinter>(schema, out);
}

}  // namespace firn::cli
