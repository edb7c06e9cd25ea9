#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "firn/record/position.h"

namespace firn::record {

/// A record that could not become a row, with everything needed to understand and replay it.
struct DeadLetter {
  SourcePartition partition;
  int64_t offset = 0;
  int64_t timestamp_ms = 0;  ///< source time
  std::string file;          ///< of sources of files: where the record stands; empty for others
  int64_t line = 0;          ///< with `file`: its first line, or its row, from 1
  std::string target_table;
  std::optional<std::string> key;    ///< original bytes
  std::optional<std::string> value;  ///< original bytes; empty optional for a tombstone
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
  std::string stage;  ///< "decode", "route", "write"
  std::string
      reason;  ///< stable code: "malformed_json", "type_mismatch", "out_of_range", "missing_required" ...
  std::string message;  ///< for people: field path, value excerpt, what was expected
};

/// Of key and value, as far as there are any.
inline size_t PayloadBytes(const DeadLetter& letter) {
  return (letter.key ? letter.key->size() : 0) + (letter.value ? letter.value->size() : 0);
}

}  // namespace firn::record
