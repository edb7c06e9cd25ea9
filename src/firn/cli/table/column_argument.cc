#include "firn/cli/table/column_argument.h"

#include <string>

#include <fmt/format.h>

namespace firn::cli {

namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Takes the name off the front of `rest`.
std::string_view TakeName(std::string_view& rest) {
  const bool quoted = rest.starts_with('"') || rest.starts_with('`');
  const size_t begin = quoted ? 1 : 0;
  const size_t end = std::min(quoted ? rest.find(rest[0], 1) : rest.find_first_of(" \t:"), rest.size());
  const std::string_view name = rest.substr(begin, end - begin);
  rest.remove_prefix(std::min(rest.size(), end + (quoted ? 1 : 0)));
  rest = Trimmed(rest);
  if (rest.starts_with(':')) rest = Trimmed(rest.substr(1));
  return name;
}

}  // namespace

Result<pipeline::ColumnConfig> ParseColumnArgument(std::string_view text) {
  constexpr std::string_view kRequired = " required";
  std::string_view rest = Trimmed(text);
  pipeline::ColumnConfig column;
  column.name = TakeName(rest);
  if (rest.ends_with(kRequired)) {
    column.required = true;
    rest = Trimmed(rest.substr(0, rest.size() - kRequired.size()));
  }
  column.type = rest;
  if (!column.name.empty() && !column.type.empty()) return column;
  return Error(ErrorKind::kInvalidArgument, fmt::format("--column '{}' is not \"name type\"", text))
      .WithRemedy("Write --column \"delay int\" or --column \"id long required\".");
}

}  // namespace firn::cli
