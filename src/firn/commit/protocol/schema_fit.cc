#include "firn/commit/protocol/schema_fit.h"

#include <fmt/format.h>

namespace firn::commit {

using iceberg::NestedField;
using iceberg::Type;

namespace {

std::string WhyFieldDoesNotFit(const NestedField& written, const NestedField& current,
                               const std::string& path, int format_version);

std::string WhyStructDoesNotFit(const Type& written, const Type& current, const std::string& prefix,
                                int format_version) {
  for (const NestedField& field : current.fields()) {
    const std::string path = prefix + field.name;
    const NestedField* of_name = written.FindField(field.name);
    if (of_name != nullptr && of_name->id != field.id)
      return fmt::format("column '{}' is another one of the same name now", path);
    const NestedField* before = written.FindField(field.id);
    if (before != nullptr) {
      std::string why = WhyFieldDoesNotFit(*before, field, path, format_version);
      if (!why.empty()) return why;
    } else if (field.required && field.initial_default == nullptr) {
      return fmt::format("column '{}' was added as a required one", path);
    }
  }
  return {};
}

// Children of lists and maps keep their names and, as long as the list or map itself is the same, their ids.
std::string WhyFieldDoesNotFit(const NestedField& written, const NestedField& current,
                               const std::string& path, int format_version) {
  if (current.required && !written.required) return fmt::format("column '{}' was made required", path);
  const Type& from = *written.type;
  const Type& to = *current.type;
  if (from.id() == to.id() && !from.is_primitive())
    return WhyStructDoesNotFit(from, to, path + ".", format_version);
  if (iceberg::CanPromote(from, to, format_version)) return {};
  return fmt::format("column '{}' was {} and is {} now", path, from.ToString(), to.ToString());
}

}  // namespace

std::string WhyRowsDoNotFit(const iceberg::Schema& written, const iceberg::Schema& current,
                            int format_version) {
  if (written.SameFields(current)) return {};
  return WhyStructDoesNotFit(*written.as_struct(), *current.as_struct(), "", format_version);
}

}  // namespace firn::commit
