#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/partition_spec.h"
#include "firn/iceberg/model/table_metadata.h"
#include "firn/store/store.h"

namespace firn::iceberg {

enum class FileContent : uint8_t { kData = 0, kPositionDeletes = 1, kEqualityDeletes = 2 };
enum class ManifestContent : uint8_t { kData = 0, kDeletes = 1 };
enum class EntryStatus : uint8_t { kExisting = 0, kAdded = 1, kDeleted = 2 };

/// data_file of a manifest entry (spec, "Manifests"; field ids in our reference section 6). Metrics are keyed
/// by field id.
struct DataFile {
  FileContent content = FileContent::kData;
  std::string file_path;
  std::string file_format = "PARQUET";
  int32_t spec_id = 0;  ///< of the manifest that holds it
  PartitionValues partition;
  int64_t record_count = 0;
  int64_t file_size_bytes = 0;
  std::map<int32_t, int64_t> column_sizes;
  std::map<int32_t, int64_t> value_counts;
  std::map<int32_t, int64_t> null_value_counts;
  std::map<int32_t, int64_t> nan_value_counts;
  std::map<int32_t, std::string> lower_bounds;  ///< Appendix D bytes
  std::map<int32_t, std::string> upper_bounds;
  std::optional<std::string> key_metadata;
  std::vector<int64_t> split_offsets;
  std::vector<int32_t> equality_ids;
  std::optional<int32_t> sort_order_id;
  std::optional<int64_t> first_row_id;  ///< v3
  std::optional<std::string> referenced_data_file;
  std::optional<int64_t> content_offset;
  std::optional<int64_t> content_size_bytes;
};

struct ManifestEntry {
  EntryStatus status = EntryStatus::kAdded;
  std::optional<int64_t> snapshot_id;      ///< null inherits
  std::optional<int64_t> sequence_number;  ///< data sequence number; null inherits (added only)
  std::optional<int64_t> file_sequence_number;
  DataFile file;
  bool live() const { return status != EntryStatus::kDeleted; }
};

struct FieldSummary {
  bool contains_null = false;
  std::optional<bool> contains_nan;
  std::optional<std::string> lower_bound;
  std::optional<std::string> upper_bound;
};

/// Sequence numbers of a manifest that no commit has taken yet.
inline constexpr int64_t kInheritedSequenceNumber = -1;

/// One row of a manifest list. Counts are empty where an old writer left them out ("assume non-zero").
struct ManifestFile {
  std::string path;
  int64_t length_bytes = 0;
  int32_t spec_id = 0;
  ManifestContent content = ManifestContent::kData;
  int64_t sequence_number = 0;
  int64_t min_sequence_number = 0;
  int64_t added_snapshot_id = 0;
  std::optional<int32_t> added_files_count, existing_files_count, deleted_files_count;
  std::optional<int64_t> added_rows_count, existing_rows_count, deleted_rows_count;
  std::optional<std::vector<FieldSummary>> partitions;
  std::optional<std::string> key_metadata;
  std::optional<int64_t> first_row_id;
};

/// Manifests of a snapshot, in list order. v1 snapshots with inline `manifests` work too.
Result<std::vector<ManifestFile>> ReadManifestList(store::Store& store, const Snapshot& snapshot);

/// Entries with inherited snapshot id, sequence numbers and first_row_id filled in. Corrupt input is kCorrupt
/// with the path.
Result<std::vector<ManifestEntry>> ReadManifest(store::Store& store, const ManifestFile& manifest,
                                                const TableMetadata& metadata);

struct ManifestWriteOptions {
  int format_version = 2;
  std::string compression =
      "gzip";  ///< `write.manifest.compression-codec`: gzip | snappy | zstd | uncompressed
  std::optional<int32_t> compression_level;
};

/// Writes one manifest of one spec; added entries keep null sequence numbers. The result's sequence numbers
/// are -1 ("inherit") for the caller to set.
Result<ManifestFile> WriteManifest(store::Store& store, const std::string& location, const Schema& schema,
                                   const PartitionSpec& spec, ManifestContent content, int64_t snapshot_id,
                                   const std::vector<ManifestEntry>& entries,
                                   const ManifestWriteOptions& options);

/// Writes the manifest list of `snapshot`; fills sequence numbers of new manifests (-1) and, in v3, first row
/// ids. Returns the row ids assigned (v3), 0 else.
Result<int64_t> WriteManifestList(store::Store& store, const std::string& location, const Snapshot& snapshot,
                                  int format_version, std::vector<ManifestFile>& manifests,
                                  int64_t first_row_id);

}  // namespace firn::iceberg
