#pragma once

#include <string>
#include <vector>

#include "firn/config/schema.h"
#include "firn/decode/csv/dialect.h"

namespace firn::decode {

/// Reads and checks the keys of a format `csv`; false after adding what is wrong to the problems.
bool ReadCsvConfig(const config::Node& node, config::Problems& problems, CsvDialect* dialect);

/// For the reference page.
void DescribeCsvConfig(const std::string& path, std::vector<config::FieldDoc>* out);

}  // namespace firn::decode
