#pragma once

#include <memory>
#include <string>
#include <vector>

#include "firn/decode/avro/writer_schemas.h"
#include "firn/decode/key_reader.h"

namespace firn::decode {

/// Key reader of Avro data as MakeAvroDecoder takes them. Fields go by the names of the writer's schema, or
/// its aliases; symbols of an enum count as text, and dates and times are the integers that Avro stores.
Result<std::unique_ptr<KeyReader>> MakeAvroKeyReader(const std::vector<std::string>& paths,
                                                     std::shared_ptr<WriterSchemas> schemas);

}  // namespace firn::decode
