#pragma once

#include <memory>
#include <string>
#include <vector>

#include "firn/decode/csv/dialect.h"
#include "firn/decode/key_reader.h"

namespace firn::decode {

/// Key reader of values that are one CSV record each. Fields go by the names of the header or of `columns`;
/// where there are none, every field is missing. A dot is part of a name.
Result<std::unique_ptr<KeyReader>> MakeCsvKeyReader(const CsvDialect& dialect,
                                                    const std::vector<std::string>& names);

}  // namespace firn::decode
