#pragma once

#include <string>
#include <vector>

#include "firn/config/schema.h"

namespace firn::decode {

/// Keys of `decode.value` with `format: avro`. Which encoding the records have follows from them.
struct AvroConfig {
  std::string format = "avro";
  std::vector<std::string> schemas;  ///< files: single-object encoding
  std::string schema;                ///< file: bare data, all of this schema
  std::string subject;               ///< of the registry: columns of a new table while there are no records
};

const config::Schema<AvroConfig>& AvroSchemaKeys();

}  // namespace firn::decode
