#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "firn/base/result.h"

namespace firn::iceberg {

/// Table properties that Firn reads: names and defaults in one place, as the Java implementation has them.
template <typename T>
struct PropertyOf {
  const char* name;
  T default_value;
};

namespace property {
inline constexpr PropertyOf<const char*> kDefaultFileFormat{"write.format.default", "parquet"};
inline constexpr PropertyOf<int64_t> kTargetFileSizeBytes{"write.target-file-size-bytes", 536'870'912};
inline constexpr PropertyOf<int64_t> kParquetRowGroupSizeBytes{"write.parquet.row-group-size-bytes",
                                                               134'217'728};
inline constexpr PropertyOf<int64_t> kParquetPageSizeBytes{"write.parquet.page-size-bytes", 1'048'576};
inline constexpr PropertyOf<int64_t> kParquetPageRowLimit{"write.parquet.page-row-limit", 20'000};
inline constexpr PropertyOf<int64_t> kParquetDictSizeBytes{"write.parquet.dict-size-bytes", 2'097'152};
inline constexpr PropertyOf<const char*> kParquetPageVersion{"write.parquet.page-version", "v1"};
/// New tables store zstd; gzip is what Java assumes where the property is absent.
inline constexpr PropertyOf<const char*> kParquetCompression{"write.parquet.compression-codec", "gzip"};
inline constexpr const char* kParquetCompressionLevel = "write.parquet.compression-level";
inline constexpr const char* kParquetBloomFilterPrefix = "write.parquet.bloom-filter-enabled.column.";
inline constexpr const char* kParquetStatsPrefix = "write.parquet.stats-enabled.column.";
inline constexpr const char* kParquetDictPrefix = "write.parquet.dict-encoding-enabled.column.";

inline constexpr PropertyOf<const char*> kManifestCompression{"write.manifest.compression-codec", "gzip"};
inline constexpr const char* kManifestCompressionLevel = "write.manifest.compression-level";
inline constexpr PropertyOf<int64_t> kManifestTargetSizeBytes{"commit.manifest.target-size-bytes", 8'388'608};
inline constexpr PropertyOf<int32_t> kManifestMinCountToMerge{"commit.manifest.min-count-to-merge", 100};
inline constexpr PropertyOf<bool> kManifestMergeEnabled{"commit.manifest-merge.enabled", true};

inline constexpr PropertyOf<const char*> kMetadataCompression{"write.metadata.compression-codec", "none"};
inline constexpr PropertyOf<int32_t> kMetadataPreviousVersionsMax{"write.metadata.previous-versions-max",
                                                                  100};
inline constexpr PropertyOf<bool> kMetadataDeleteAfterCommit{"write.metadata.delete-after-commit.enabled",
                                                             false};
inline constexpr const char* kMetricsDefault = "write.metadata.metrics.default";
inline constexpr const char* kMetricsColumnPrefix = "write.metadata.metrics.column.";
inline constexpr PropertyOf<int32_t> kMetricsMaxInferredColumns{
    "write.metadata.metrics.max-inferred-column-defaults", 100};
inline constexpr PropertyOf<int32_t> kSummaryPartitionLimit{"write.summary.partition-limit", 0};

inline constexpr const char* kDataPath = "write.data.path";
inline constexpr const char* kMetadataPath = "write.metadata.path";
inline constexpr PropertyOf<bool> kObjectStorageEnabled{"write.object-storage.enabled", false};
inline constexpr PropertyOf<bool> kObjectStoragePartitionedPaths{"write.object-storage.partitioned-paths",
                                                                 true};
inline constexpr const char* kObjectStoragePathRemoved = "write.object-storage.path";
inline constexpr const char* kFolderStoragePathRemoved = "write.folder-storage.path";
inline constexpr const char* kLocationProviderImpl = "write.location-provider.impl";

inline constexpr PropertyOf<bool> kGcEnabled{"gc.enabled", true};
inline constexpr PropertyOf<int64_t> kMaxSnapshotAgeMs{"history.expire.max-snapshot-age-ms", 432'000'000};
inline constexpr PropertyOf<int32_t> kMinSnapshotsToKeep{"history.expire.min-snapshots-to-keep", 1};
inline constexpr PropertyOf<int64_t> kMaxRefAgeMs{"history.expire.max-ref-age-ms", INT64_MAX};

inline constexpr PropertyOf<int32_t> kCommitNumRetries{"commit.retry.num-retries", 4};
inline constexpr PropertyOf<int64_t> kCommitMinRetryWaitMs{"commit.retry.min-wait-ms", 100};
inline constexpr PropertyOf<int64_t> kCommitMaxRetryWaitMs{"commit.retry.max-wait-ms", 60'000};
inline constexpr PropertyOf<int64_t> kCommitTotalRetryTimeMs{"commit.retry.total-timeout-ms", 1'800'000};
inline constexpr PropertyOf<int32_t> kCommitStatusChecks{"commit.status-check.num-retries", 3};

inline constexpr const char* kNameMapping = "schema.name-mapping.default";
inline constexpr const char* kEncryptionKeyId = "encryption.key-id";
}  // namespace property

/// Typed reading. Absent: the default. kInvalidArgument names the property and its value when it does not
/// parse.
Result<int64_t> GetProperty(const std::map<std::string, std::string>& properties,
                            const PropertyOf<int64_t>& property);
Result<int32_t> GetProperty(const std::map<std::string, std::string>& properties,
                            const PropertyOf<int32_t>& property);
Result<bool> GetProperty(const std::map<std::string, std::string>& properties,
                         const PropertyOf<bool>& property);
std::string GetProperty(const std::map<std::string, std::string>& properties,
                        const PropertyOf<const char*>& property);
std::optional<std::string> FindProperty(const std::map<std::string, std::string>& properties,
                                        std::string_view name);
/// For properties without a default, `write.parquet.compression-level`.
Result<std::optional<int32_t>> FindInt32Property(const std::map<std::string, std::string>& properties,
                                                 const char* name);

/// Names that the format keeps for itself and that are never stored (`format-version`, `uuid`,
/// `snapshot-count` ...).
bool IsReservedProperty(std::string_view name);

}  // namespace firn::iceberg
