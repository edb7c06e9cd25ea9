#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/model/table_metadata.h"

namespace firn::iceberg {

/// How the manifests of a new snapshot came about.
struct ManifestCounts {
  int64_t created = 0;
  int64_t kept = 0;
  int64_t replaced = 0;
};

/// Summary of a snapshot that adds data files, with the keys and rules of the Java implementation (our
/// reference, section 12): counts only where above zero, totals always, unless the parent's total is not
/// known. `parent` null: the totals start at zero.
Result<std::map<std::string, std::string>> AppendSummary(const TableMetadata& base, const Snapshot* parent,
                                                         const std::vector<DataFile>& files,
                                                         const ManifestCounts& manifests);

}  // namespace firn::iceberg
