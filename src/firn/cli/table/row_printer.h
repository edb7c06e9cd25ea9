#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "firn/base/result.h"
#include "firn/cli/output.h"
#include "firn/iceberg/model/schema.h"

namespace firn::cli {

enum class RowFormat : uint8_t { kTable, kCsv, kJsonLines };

/// `table`, `csv` or `jsonl`.
Result<RowFormat> ParseRowFormat(const std::string& text);

/// Prints rows as they come; memory does not grow with their number. Null is empty in CSV (an empty text is
/// ""), `null` in JSON lines, and an empty cell in a table.
class RowPrinter {
 public:
  virtual ~RowPrinter() = default;
  virtual void Print(const nlohmann::ordered_json& row) = 0;
  /// After the last row.
  virtual void End() = 0;
};

/// `out` outlives the printer.
std::unique_ptr<RowPrinter> MakeRowPrinter(RowFormat format, const iceberg::Schema& schema, Output& out);

}  // namespace firn::cli
