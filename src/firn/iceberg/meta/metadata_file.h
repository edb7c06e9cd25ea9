#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "firn/base/result.h"
#include "firn/iceberg/model/table_metadata.h"
#include "firn/store/attempt_files.h"
#include "firn/store/store.h"

namespace firn::iceberg {

/// What one metadata file holds.
struct MetadataFile {
  std::shared_ptr<const TableMetadata> metadata;
  int64_t bytes = 0;  ///< of the file, as it is stored
};

/// Reads metadata files and keeps the latest ones used. A metadata file never changes under its name, so what
/// is kept cannot be outdated; which file is the current one is the catalog's to look up each time.
/// Thread-safe.
class MetadataFiles {
 public:
  explicit MetadataFiles(size_t capacity = 32) : capacity_(capacity) {}

  Result<MetadataFile> Read(store::Store& store, const std::string& location);
  /// Notes what a file holds that was just written.
  void Keep(const std::string& location, MetadataFile file);

 private:
  using Entry = std::pair<std::string, MetadataFile>;

  /// Null metadata: not kept.
  MetadataFile Find(const std::string& location);

  const size_t capacity_;
  std::mutex mutex_;
  std::list<Entry> entries_;  ///< latest first
};

struct WrittenMetadata {
  std::string location;
  int64_t bytes = 0;
};

/// Writes the next metadata file of a table by `write.metadata.*`, durably and under a name that did not
/// exist. `previous_location` empty: the table is new. The file is noted in `files` before it is created.
Result<WrittenMetadata> WriteMetadataFile(store::Store& store, const TableMetadata& metadata,
                                          const std::string& previous_location, const std::string& uuid,
                                          store::AttemptFiles& files);

/// After the commit from `base` to `committed`: deletes the metadata files that fell out of the log, where
/// the table has `write.metadata.delete-after-commit.enabled`. The commit that dropped them from the log
/// released them (door 2). Best effort.
void DeleteDroppedMetadata(store::Store& store, const TableMetadata& base, const TableMetadata& committed);

}  // namespace firn::iceberg
