#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/avro/schema.h"
#include "firn/base/result.h"
#include "firn/iceberg/model/partition_spec.h"
#include "firn/iceberg/model/type.h"

namespace firn::iceberg {

// Field ids of manifests and manifest lists (format specification, "Manifests" and "Manifest Lists").

namespace entry_field {
inline constexpr int32_t kStatus = 0;
inline constexpr int32_t kSnapshotId = 1;
inline constexpr int32_t kDataFile = 2;
inline constexpr int32_t kSequenceNumber = 3;
inline constexpr int32_t kFileSequenceNumber = 4;
}  // namespace entry_field

namespace file_field {
inline constexpr int32_t kFilePath = 100;
inline constexpr int32_t kFileFormat = 101;
inline constexpr int32_t kPartition = 102;
inline constexpr int32_t kRecordCount = 103;
inline constexpr int32_t kFileSize = 104;
inline constexpr int32_t kColumnSizes = 108;
inline constexpr int32_t kValueCounts = 109;
inline constexpr int32_t kNullValueCounts = 110;
inline constexpr int32_t kLowerBounds = 125;
inline constexpr int32_t kUpperBounds = 128;
inline constexpr int32_t kKeyMetadata = 131;
inline constexpr int32_t kSplitOffsets = 132;
inline constexpr int32_t kContent = 134;
inline constexpr int32_t kEqualityIds = 135;
inline constexpr int32_t kNanValueCounts = 137;
inline constexpr int32_t kSortOrderId = 140;
inline constexpr int32_t kFirstRowId = 142;
inline constexpr int32_t kReferencedDataFile = 143;
inline constexpr int32_t kContentOffset = 144;
inline constexpr int32_t kContentSize = 145;
}  // namespace file_field

namespace list_field {
inline constexpr int32_t kPath = 500;
inline constexpr int32_t kLength = 501;
inline constexpr int32_t kSpecId = 502;
inline constexpr int32_t kAddedSnapshotId = 503;
inline constexpr int32_t kAddedFilesCount = 504;
inline constexpr int32_t kExistingFilesCount = 505;
inline constexpr int32_t kDeletedFilesCount = 506;
inline constexpr int32_t kPartitions = 507;
inline constexpr int32_t kContainsNull = 509;
inline constexpr int32_t kLowerBound = 510;
inline constexpr int32_t kUpperBound = 511;
inline constexpr int32_t kAddedRowsCount = 512;
inline constexpr int32_t kExistingRowsCount = 513;
inline constexpr int32_t kDeletedRowsCount = 514;
inline constexpr int32_t kSequenceNumber = 515;
inline constexpr int32_t kMinSequenceNumber = 516;
inline constexpr int32_t kContent = 517;
inline constexpr int32_t kContainsNan = 518;
inline constexpr int32_t kKeyMetadata = 519;
inline constexpr int32_t kFirstRowId = 520;
}  // namespace list_field

/// Id of a field in a manifest or list: its `field-id`, or, where a writer left that out, what its name means
/// (the names of old writers included). -1 for a field that we do not know.
int32_t ManifestFieldId(const avro::Field& field);

/// Avro schemas that Firn writes, for format versions 2 and 3.
std::string ManifestListSchemaJson(int format_version);
/// `partition_type` is the struct of the spec's partition tuple. kUnsupported when it holds a type that no
/// partition can have.
Result<std::string> ManifestSchemaJson(int format_version, const Type& partition_type);

}  // namespace firn::iceberg
