#pragma once

#include <string>
#include <vector>

#include "firn/iceberg/model/schema.h"

namespace firn::route {

/// Where declared columns contradict a table that exists, one sentence each with the column's path, both
/// sides and what to do; empty when they agree. Ids do not matter, and the table may have more columns, more
/// fields in its structs, wider types (what it was widened to since) and required columns that are declared
/// optional.
std::vector<std::string> FindContradictions(const iceberg::Schema& declared, const iceberg::Schema& table,
                                            int format_version);

}  // namespace firn::route
