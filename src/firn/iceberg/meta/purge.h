#pragma once

#include <string>
#include <vector>

#include "firn/iceberg/model/table_metadata.h"
#include "firn/store/store.h"

namespace firn::iceberg {

/// Deletes the files of a table that was dropped with the word to purge it: the committed drop released them
/// (door 2), no catalog entry names them any more. In the order of the Java implementation: with `gc.enabled`
/// (the default) the data and delete files of all snapshots; then manifests, manifest lists, statistics,
/// older metadata files, and the current one last, so that a purge that was cut short can be repeated. Files
/// of a manifest that cannot be read stay. Returns what could not be deleted or read, empty when all went.
std::vector<std::string> PurgeTableFiles(store::Store& store, const TableMetadata& metadata,
                                         const std::string& metadata_location);

}  // namespace firn::iceberg
