#include "firn/config/reference.h"

#include <fmt/format.h>

namespace firn::config {

namespace {

/// A cell must not end the cell or the row.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string Code(const std::string& text) { return text.empty() ? std::string() : "`" + Cell(text) + "`"; }

std::string ShortPath(const std::string& path, const std::string& prefix) {
  return !prefix.empty() && path.starts_with(prefix + ".") ? path.substr(prefix.size() + 1) : path;
}

}  // namespace

std::string RenderReferenceTable(const std::vector<FieldDoc>& fields, const std::string& prefix) {
  std::string out = "| Key | Type | Default | Allowed | Meaning |\n|---|---|---|---|---|\n";
  for (const FieldDoc& field : fields) {
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", ShortPath(field.path, prefix), Cell(field.type),
                       field.required ? "required" : Code(field.default_text), Cell(field.allowed),
                       Cell(field.doc));
  }
  return out;
}

}  // namespace firn::config
