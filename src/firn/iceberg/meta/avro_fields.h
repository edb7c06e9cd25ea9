#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "firn/avro/binary.h"
#include "firn/base/result.h"

namespace firn::iceberg {

// Reading single fields of manifests and lists into their C++ types. A field may be optional in the file
// whether or not it is here: null leaves the target as it is. kCorrupt when the file's type does not fit.

/// int or long, also optional (null: kCorrupt).
Result<int64_t> ReadInteger(avro::BinaryReader& reader, const avro::Node& node);

Status ReadInto(avro::BinaryReader& reader, const avro::Node& node, bool& out);
Status ReadInto(avro::BinaryReader& reader, const avro::Node& node, int32_t& out);
Status ReadInto(avro::BinaryReader& reader, const avro::Node& node, int64_t& out);
Status ReadInto(avro::BinaryReader& reader, const avro::Node& node, std::string& out);
Status ReadInto(avro::BinaryReader& reader, const avro::Node& node, std::vector<int32_t>& out);
Status ReadInto(avro::BinaryReader& reader, const avro::Node& node, std::vector<int64_t>& out);
/// An array of key-value records (Iceberg's maps with keys that are no strings).
Status ReadInto(avro::BinaryReader& reader, const avro::Node& node, std::map<int32_t, int64_t>& out);
Status ReadInto(avro::BinaryReader& reader, const avro::Node& node, std::map<int32_t, std::string>& out);

/// The type under a union of null and it; null when the value is null.
Result<const avro::Node*> ReadOptional(avro::BinaryReader& reader, const avro::Node& node);

template <typename T>
Status ReadInto(avro::BinaryReader& reader, const avro::Node& node, std::optional<T>& out) {
  FIRN_ASSIGN(const avro::Node* present, ReadOptional(reader, node));
  if (present == nullptr) return Ok();
  out.emplace();
  return ReadInto(reader, *present, *out);
}

// Writing of optional fields: a union of null and the type, null first.

inline void WritePresence(avro::BinaryWriter& writer, bool present) { writer.WriteInt(present ? 1 : 0); }

inline void WriteValue(avro::BinaryWriter& writer, bool value) { writer.WriteBoolean(value); }
inline void WriteValue(avro::BinaryWriter& writer, int32_t value) { writer.WriteInt(value); }
inline void WriteValue(avro::BinaryWriter& writer, int64_t value) { writer.WriteLong(value); }
inline void WriteValue(avro::BinaryWriter& writer, const std::string& value) { writer.WriteBytes(value); }

template <typename T>
void WriteOptional(avro::BinaryWriter& writer, const std::optional<T>& value) {
  WritePresence(writer, value.has_value());
  if (value) WriteValue(writer, *value);
}

}  // namespace firn::iceberg
