#include "firn/route/declared_columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace firn::route {

using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;

namespace {

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

class Comparison {
 public:
  explicit Comparison(int format_version) : format_version_(format_version) {}

  void CompareStructs(const Type& declared, const Type& table, const std::string& prefix) {
    for (const NestedField& field : declared.fields()) {
      const std::string path = prefix + field.name;
      if (const NestedField* actual = table.FindField(field.name)) {
        CompareFields(field, *actual, path);
      } else {
        ReportMissing(field, table, path);
      }
    }
  }

  std::vector<std::string> Take() { return std::move(problems_); }

 private:
  void CompareFields(const NestedField& declared, const NestedField& actual, const std::string& path) {
    if (declared.required && !actual.required) {
      problems_.push_back(fmt::format(
          "column '{}' is declared required, but optional in the table: leave `required` out", path));
    }
    const Type& wanted = *declared.type;
    const Type& found = *actual.type;
    if (wanted.id() != found.id() || wanted.is_primitive()) {
      if (!wanted.Equals(found) && !iceberg::CanPromote(wanted, found, format_version_))
        ReportType(wanted, found, path);
    } else if (wanted.id() == TypeId::kStruct) {
      CompareStructs(wanted, found, path + ".");
    } else {
      for (size_t i = 0; i < wanted.fields().size(); ++i) {
        CompareFields(wanted.fields()[i], found.fields()[i], path + "." + wanted.fields()[i].name);
      }
    }
  }

  void ReportType(const Type& declared, const Type& actual, const std::string& path) {
    problems_.push_back(
        fmt::format("column '{}' is declared {}, but {} in the table: declare what the table has", path,
                    declared.ToString(), actual.ToString()));
  }

  void ReportMissing(const NestedField& field, const Type& table, const std::string& path) {
    const auto variant = std::ranges::find_if(
        table.fields(), [&](const NestedField& other) { return EqualsIgnoringCase(other.name, field.name); });
    if (variant != table.fields().end()) {
      problems_.push_back(fmt::format("column '{}' is '{}' in the table: names are exact, case included",
                                      path, variant->name));
    } else {
      problems_.push_back(fmt::format("column '{}' ({}) is not in the table: add it there, or leave it out",
                                      path, field.type->ToString()));
    }
  }

  int format_version_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> FindContradictions(const iceberg::Schema& declared, const iceberg::Schema& table,
                                            int format_version) {
  Comparison comparison(format_version);
  comparison.CompareStructs(*declared.as_struct(), *table.as_struct(), "");
  return comparison.Take();
}

}  // namespace firn::route
