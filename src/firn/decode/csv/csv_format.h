#pragma once

#include <memory>

#include "firn/decode/csv/dialect.h"
#include "firn/record/file_format.h"

namespace firn::decode {

/// Files of CSV as records, in the file's own bytes (MakeCsvDecoder knows the encoding). FileOrigin::schema
/// is the header record in UTF-8, empty where the file has none. Reading goes on at byte offsets.
std::shared_ptr<record::FileFormat> MakeCsvFormat(const CsvDialect& dialect);

}  // namespace firn::decode
