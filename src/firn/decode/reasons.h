#pragma once

#include <string_view>

/// Reason codes of dead letters of stage "decode". Stable: people filter and alert on them (docs/types.md
/// lists them).
namespace firn::decode::reason {

inline constexpr std::string_view kEmptyValue = "empty_value";  ///< no bytes, or only white space
inline constexpr std::string_view kTombstone = "tombstone";  ///< a null value, where those are dead letters
inline constexpr std::string_view kRecordTooLong =
    "record_too_long";  ///< longer than max_record_bytes (of the pipeline, or of a CSV file)
inline constexpr std::string_view kInvalidUtf8 = "invalid_utf8";
inline constexpr std::string_view kMalformedJson = "malformed_json";  ///< not JSON, or nested too deeply
inline constexpr std::string_view kNotAnObject = "not_an_object";     ///< JSON, but no object at the top
inline constexpr std::string_view kTypeMismatch =
    "type_mismatch";                                             ///< text for a number, object for text ...
inline constexpr std::string_view kOutOfRange = "out_of_range";  ///< beyond what the column's type holds
inline constexpr std::string_view kInexact =
    "inexact";  ///< digits would be lost: a fraction for an integer ...
inline constexpr std::string_view kBadDate = "bad_date";
inline constexpr std::string_view kBadTime = "bad_time";
inline constexpr std::string_view kBadTimestamp = "bad_timestamp";  ///< also an offset too many or missing
inline constexpr std::string_view kBadDecimal = "bad_decimal";
inline constexpr std::string_view kBadUuid = "bad_uuid";
inline constexpr std::string_view kBadBase64 = "bad_base64";
inline constexpr std::string_view kBadHex = "bad_hex";
inline constexpr std::string_view kBadMapKey = "bad_map_key";
inline constexpr std::string_view kMissingRequired = "missing_required";
inline constexpr std::string_view kNullRequired = "null_required";
inline constexpr std::string_view kUnknownField = "unknown_field";  ///< by policy
inline constexpr std::string_view kTypeConflict =
    "type_conflict";  ///< a new field whose values have no common type
inline constexpr std::string_view kTooManyColumns = "too_many_columns";
inline constexpr std::string_view kMalformedAvro = "malformed_avro";  ///< bytes that do not follow the schema
inline constexpr std::string_view kUnframedAvro =
    "unframed_avro";  ///< not in the encoding that names its schema
inline constexpr std::string_view kUnknownSchemaId =
    "unknown_schema_id";  ///< the registry (or the configuration) has no such schema
inline constexpr std::string_view kUnusableSchema =
    "unusable_schema";  ///< registered, but no Avro, damaged, or no record
inline constexpr std::string_view kMalformedCsv =
    "malformed_csv";  ///< text behind a closing quote, or two records in a message
inline constexpr std::string_view kUnclosedQuote = "unclosed_quote";
inline constexpr std::string_view kRaggedRow = "ragged_row";  ///< not as many fields as there are columns
inline constexpr std::string_view kBadHeader = "bad_header";  ///< of a file: every record of it

}  // namespace firn::decode::reason
