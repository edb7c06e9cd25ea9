#pragma once

#include <memory>

#include "firn/record/file_format.h"

namespace firn::decode {

/// What a JSON record of a file may take; a longer line is handed out cut off, so that it becomes a bad
/// record, and a longer value that is no line is kCorrupt.
inline constexpr size_t kMaxJsonRecordBytes = size_t{64} << 20;

/// Splits files of JSON into records. What a file holds is seen at its beginning:
///
/// - one value a line (JSON lines, ndjson), each line a record whatever is in it, blank ones none;
/// - one array, its elements the records;
/// - values one behind the other with or without space between them, also spread over lines.
///
/// A UTF-8 byte order mark is passed over. Positions are byte offsets. kCorrupt, with the line: an array that
/// is not closed or followed by more, UTF-16.
std::shared_ptr<record::FileFormat> MakeJsonFiles(size_t max_record_bytes = kMaxJsonRecordBytes);

}  // namespace firn::decode
