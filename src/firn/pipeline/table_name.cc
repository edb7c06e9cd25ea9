#include <utility>

#include <fmt/format.h>

#include "firn/pipeline/table_definition.h"

namespace firn::pipeline {

std::string TableName::ToString() const {
  std::string text = catalog;
  for (const std::string& level : ns) text += '.' + level;
  return text + '.' + name;
}

std::vector<route::RouteRule> RouteRules(const PipelineConfig& config) {
  std::vector<route::RouteRule> rules;
  for (const TableConfig& table : config.tables) {
    route::RouteRule rule{table.match.topic, {}, table.name.ToString()};
    for (const auto& [path, pattern] : table.match.field) rule.fields.push_back({path, pattern});
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<TableName> ParseTableName(std::string_view text) {
  std::vector<std::string> parts(1);
  bool placeholder = false;
  for (const char c : text) {
    placeholder = c == '{' || (placeholder && c != '}');
    if (c == '.' && !placeholder) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  bool complete = parts.size() >= 3;
  for (const std::string& part : parts) complete = complete && !part.empty();
  if (!complete) {
    return Error(ErrorKind::kInvalidArgument, fmt::format("'{}' is not catalog.namespace.table", text))
        .WithRemedy("Write for example lake.travel.flights, where lake is a key under catalogs:.");
  }
  if (!route::IsLiteral(parts.front())) {
    return Error(ErrorKind::kInvalidArgument, fmt::format("'{}': the catalog must be written out", text));
  }
  TableName table;
  table.catalog = std::move(parts.front());
  table.name = std::move(parts.back());
  table.ns.assign(std::make_move_iterator(parts.begin() + 1), std::make_move_iterator(parts.end() - 1));
  return table;
}

}  // namespace firn::pipeline
