#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/avro/schema.h"

namespace firn::avro {

/// The schema as the specification's "Parsing Canonical Form": what two schemas have in common that read the
/// same bytes the same way.
std::string CanonicalForm(const Schema& schema);

/// CRC-64-AVRO of any bytes.
uint64_t Crc64(std::string_view bytes);

/// Crc64 of the canonical form: what single-object encoding names a schema by.
uint64_t Fingerprint(const Schema& schema);

}  // namespace firn::avro
