#include "firn/cli/pipeline_text.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/units.h"
#include "firn/pipeline/column_type.h"

namespace firn::cli {

namespace {

bool IsPlain(std::string_view value) {
  if (value.empty() || std::isalpha(static_cast<unsigned char>(value.front())) == 0) return false;
  for (const char c : value) {
    const bool fine = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ||
                      c == '/' || c == '(' || c == ')';
    if (!fine) return false;
  }
  constexpr std::string_view kWords[] = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};
  std::string lower;
  for (const char c : value) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::find(kWords, lower) == std::end(kWords);
}

std::string Quoted(std::string_view value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string SourceText(const PipelineDraft& draft) {
  if (draft.kafka.empty()) {
    return fmt::format(
        "      files:\n        path: {}\n        mode: watch   # once: what is there now, then end\n",
        YamlText(draft.files));
  }
  std::string text = fmt::format("      kafka:\n        bootstrap_servers: {}\n        topics: [{}]\n",
                                 YamlText(draft.kafka), YamlText(draft.topic));
  if (draft.properties.empty()) return text;
  text += "        properties:\n";
  for (const std::string& property : draft.properties) {
    const size_t equals = property.find('=');
    text += fmt::format("          {}: {}\n", YamlText(property.substr(0, equals)),
                        Quoted(property.substr(equals + 1)));
  }
  return text;
}

std::string DecodeText(const PipelineDraft& draft) {
  if (draft.schema_registry.empty()) return fmt::format("    decode: {}\n", draft.format);
  return fmt::format("    decode:\n      value: {{format: {}}}\n      schema_registry: {{url: {}}}\n",
                     draft.format, YamlText(draft.schema_registry));
}

std::string CatalogText(const PipelineDraft& draft) {
  return fmt::format("catalogs:\n  {}:\n    type: sql\n    uri: {}\n    warehouse: {}\n\n",
                     YamlText(draft.table.substr(0, draft.table.find('.'))), YamlText(draft.catalog_uri),
                     YamlText(draft.warehouse));
}

std::string Beginning(const PipelineDraft& draft) {
  return fmt::format(
      "{}pipelines:\n  {}:\n    id: {}   # identity of its progress in the table: keep it\n    source:\n{}{} "
      "   tables:\n      - name: {}\n",
      CatalogText(draft), YamlText(draft.id), YamlText(draft.id), SourceText(draft), DecodeText(draft),
      YamlText(draft.table));
}

constexpr std::string_view kColumnIndent = "          ";

std::string HintText(const pipeline::ColumnHint& hint) {
  if (hint.better_type.empty()) return fmt::format("{}# {}\n", kColumnIndent, hint.text);
  return fmt::format("{}# {}: 'type: {}{}' would keep it as one\n", kColumnIndent, hint.text,
                     hint.better_type, hint.unit.empty() ? "" : ", unit: " + hint.unit);
}

std::string ColumnText(const iceberg::NestedField& field) {
  std::string text = fmt::format("{}- {{name: {}, type: {}", kColumnIndent, YamlText(field.name),
                                 YamlText(pipeline::ColumnTypeText(*field.type)));
  if (!field.doc.empty()) text += ", doc: " + YamlText(field.doc);
  return text + "}\n";
}

std::string ColumnsText(const iceberg::Schema& schema, const std::vector<pipeline::ColumnHint>& hints) {
  std::string text = "        columns:\n";
  for (const iceberg::NestedField& field : schema.fields()) {
    for (const pipeline::ColumnHint& hint : hints)
      if (hint.column == field.name) text += HintText(hint);
    text += ColumnText(field);
  }
  return text;
}

/// A time to partition by, if there is one.
std::string PartitionText(const iceberg::Schema& schema, const std::vector<pipeline::ColumnHint>& hints) {
  for (const iceberg::NestedField& field : schema.fields()) {
    const bool is_time = field.type->id() == iceberg::TypeId::kTimestamp ||
                         field.type->id() == iceberg::TypeId::kTimestampTz ||
                         field.type->id() == iceberg::TypeId::kDate;
    const bool may_be = std::ranges::any_of(hints, [&](const pipeline::ColumnHint& hint) {
      return hint.column == field.name &&
             (hint.better_type == "date" || hint.better_type.starts_with("timestamp"));
    });
    if (is_time || may_be) {
      return fmt::format(
          "        # partition_by: [{}]   # by this time{}; others: month, hour, bucket(16, x), truncate(4, "
          "x)\n",
          YamlText(fmt::format("day({})", field.name)), is_time ? "" : ", once its type is one");
    }
  }
  return "        # partition_by: [\"bucket(16, x)\"]   # or day(x), month(x), truncate(4, x)\n";
}

std::string HeaderText(const PipelineDraft& draft, const decode::InferredSchema& found) {
  const std::string where = draft.kafka.empty() ? fmt::format("files of {}", draft.files)
                                                : fmt::format("topic {} on {}", draft.topic, draft.kafka);
  std::string text = fmt::format(
      "# Written by 'firn init' from {} records of the {}. Read it, change what is wrong, then\n"
      "#   firn check FILE      shows what would run\n#   firn run FILE        runs it\n",
      HumanCount(found.records), where);
  if (found.bad_records > 0)
    text += fmt::format("#\n# {} records of the sample could not be read and would be dead letters.\n",
                        HumanCount(found.bad_records));
  if (!found.notes.empty()) text += "#\n# Look at these:\n";
  for (const std::string& note : found.notes) text += fmt::format("#   {}\n", note);
  return text + "\n";
}

}  // namespace

std::string YamlText(std::string_view value) {
  if (IsPlain(value)) return std::string(value);
  std::string doubled;
  for (const char c : value) doubled += c == '$' ? std::string("$$") : std::string(1, c);
  return Quoted(doubled);
}

std::string PipelineText(const PipelineDraft& draft) { return Beginning(draft); }

std::string PipelineText(const PipelineDraft& draft, const decode::InferredSchema& found,
                         const std::vector<pipeline::ColumnHint>& hints) {
  return HeaderText(draft, found) + Beginning(draft) + ColumnsText(*found.schema, hints) +
         PartitionText(*found.schema, hints) +
         "        # schema_evolution: add   # take fields that come later as new columns\n"
         "    commit: {interval: 60s}\n";
}

}  // namespace firn::cli
