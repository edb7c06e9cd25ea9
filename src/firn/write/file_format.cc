#include "firn/write/file_format.h"

#include <arrow/type.h>
#include <arrow/util/compression.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "firn/base/version.h"
#include "firn/iceberg/model/property.h"
#include "firn/iceberg/scan/arrow_schema.h"
#include "firn/write/parquet_schema.h"

namespace firn::write {

namespace {

using iceberg::Properties;
namespace property = iceberg::property;
using Builder = parquet::WriterProperties::Builder;

struct Codec {
  std::string_view name;
  arrow::Compression::type type;
};
constexpr Codec kCodecs[] = {
    {"zstd", arrow::Compression::ZSTD},         {"snappy", arrow::Compression::SNAPPY},
    {"gzip", arrow::Compression::GZIP},         {"brotli", arrow::Compression::BROTLI},
    {"lz4", arrow::Compression::LZ4},           {"lz4_raw", arrow::Compression::LZ4},
    {"none", arrow::Compression::UNCOMPRESSED}, {"uncompressed", arrow::Compression::UNCOMPRESSED},
};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Error BadProperty(std::string_view key, std::string_view value, std::string_view allowed) {
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("table property {}={}: expected {}", key, value, allowed));
}

Result<int64_t> IntegerProperty(const Properties& properties, const iceberg::PropertyOf<int64_t>& property,
                                int64_t max) {
  FIRN_ASSIGN(const int64_t value, iceberg::GetProperty(properties, property));
  if (value >= 1 && value <= max) return value;
  return BadProperty(property.name, std::to_string(value), fmt::format("an integer from 1 to {}", max));
}

Result<bool> BooleanProperty(const std::string& key, const std::string& text) {
  const std::string value = Lower(text);
  if (value == "true") return true;
  if (value == "false") return false;
  return BadProperty(key, text, "true or false");
}

Status SetLevel(const Properties& properties, arrow::Compression::type codec, Builder& builder) {
  FIRN_ASSIGN(const auto level, iceberg::FindInt32Property(properties, property::kParquetCompressionLevel));
  if (!level.has_value() || !arrow::util::Codec::SupportsCompressionLevel(codec)) return Ok();
  const int min = arrow::util::Codec::MinimumCompressionLevel(codec).ValueOr(0);
  const int max = arrow::util::Codec::MaximumCompressionLevel(codec).ValueOr(0);
  if (*level < min || *level > max) {
    return BadProperty(property::kParquetCompressionLevel, std::to_string(*level),
                       fmt::format("a level from {} to {} for this codec", min, max));
  }
  builder.compression_level(*level);
  return Ok();
}

/// Without the property: zstd, although Java then assumes gzip, which costs three times the CPU and reads no
/// better.
Status SetCompression(const Properties& properties, Builder& builder) {
  const std::string name =
      Lower(iceberg::FindProperty(properties, property::kParquetCompression.name).value_or("zstd"));
  const auto* codec =
      std::find_if(std::begin(kCodecs), std::end(kCodecs), [&](const Codec& c) { return c.name == name; });
  if (codec == std::end(kCodecs)) {
    return BadProperty(property::kParquetCompression.name, name,
                       "zstd, snappy, gzip, brotli, lz4 or uncompressed");
  }
  builder.compression(codec->type);
  return SetLevel(properties, codec->type, builder);
}

Status SetPages(const Properties& properties, Builder& builder) {
  FIRN_ASSIGN(const int64_t page_bytes,
              IntegerProperty(properties, property::kParquetPageSizeBytes, INT32_MAX));
  FIRN_ASSIGN(const int64_t page_rows,
              IntegerProperty(properties, property::kParquetPageRowLimit, INT32_MAX));
  FIRN_ASSIGN(const int64_t dictionary_bytes,
              IntegerProperty(properties, property::kParquetDictSizeBytes, INT32_MAX));
  builder.data_pagesize(page_bytes)
      ->max_rows_per_page(page_rows)
      ->dictionary_pagesize_limit(dictionary_bytes);
  const std::string version = Lower(iceberg::GetProperty(properties, property::kParquetPageVersion));
  if (version != "v1" && version != "v2")
    return BadProperty(property::kParquetPageVersion.name, version, "v1 or v2");
  builder.data_page_version(version == "v2" ? parquet::ParquetDataPageVersion::V2
                                            : parquet::ParquetDataPageVersion::V1);
  return Ok();
}

/// Paths of the leaves of column `name` (a leaf itself, or everything below a nested column).
std::vector<std::string> PathsOf(const iceberg::Schema& schema, const std::map<int32_t, std::string>& leaves,
                                 std::string_view name) {
  std::vector<std::string> paths;
  for (const auto& [id, path] : leaves) {
    const std::string full = schema.FullName(id);
    if (full == name || full.starts_with(std::string(name) + '.')) paths.push_back(path);
  }
  return paths;
}

template <typename Apply>
Status ForColumns(const Properties& properties, std::string_view prefix, const iceberg::Schema& schema,
                  const std::map<int32_t, std::string>& leaves, Apply apply) {
  for (const auto& [key, text] : properties) {
    if (!key.starts_with(prefix)) continue;
    FIRN_ASSIGN(const bool enabled, BooleanProperty(key, text));
    for (const std::string& path : PathsOf(schema, leaves, std::string_view(key).substr(prefix.size()))) {
      apply(path, enabled);
    }
  }
  return Ok();
}

/// Iceberg's Java library up to 1.12 orders UUIDs as two signed numbers, bounds and dictionaries as the
/// format says by unsigned bytes: it would look for hardly any UUID in the files that hold it. So there are
/// none, unless the table's properties ask for them.
void LeaveUuidsToTheScan(const iceberg::Schema& schema, const std::map<int32_t, std::string>& leaves,
                         Builder& builder) {
  for (const auto& [id, path] : leaves) {
    if (schema.FindById(id)->type->id() != iceberg::TypeId::kUuid) continue;
    builder.disable_statistics(path);
    builder.disable_dictionary(path);
  }
}

Status SetColumns(const Properties& properties, const FileFormat& format, Builder& builder) {
  const auto leaves = LeafPaths(*format.parquet_schema);
  LeaveUuidsToTheScan(*format.schema, leaves, builder);
  FIRN_TRY(ForColumns(properties, property::kParquetStatsPrefix, *format.schema, leaves,
                      [&](const std::string& path, bool enabled) {
                        if (enabled) {
                          builder.enable_statistics(path);
                        } else {
                          builder.disable_statistics(path);
                        }
                      }));
  return ForColumns(properties, property::kParquetDictPrefix, *format.schema, leaves,
                    [&](const std::string& path, bool enabled) {
                      if (enabled) {
                        builder.enable_dictionary(path);
                      } else {
                        builder.disable_dictionary(path);
                      }
                    });
}

Status CheckWritable(const Properties& properties) {
  const std::string format = iceberg::GetProperty(properties, property::kDefaultFileFormat);
  if (Lower(format) != "parquet") {
    return Error(ErrorKind::kUnsupported,
                 fmt::format("table property {}={}: Firn writes Parquet data files only",
                             property::kDefaultFileFormat.name, format));
  }
  if (properties.contains(property::kEncryptionKeyId)) {
    return Error(
        ErrorKind::kUnsupported,
        fmt::format("table property {}: Firn does not write encrypted tables", property::kEncryptionKeyId));
  }
  return Ok();
}

Status SetSchemas(const iceberg::TableMetadata& table, FileFormat& format) {
  FIRN_ASSIGN(format.schema, StoredSchema(table.schema()));
  const auto& all = table.schema()->fields();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].type->id() != iceberg::TypeId::kUnknown) format.columns.push_back(static_cast<int>(i));
  }
  if (format.columns.empty())
    return Error(ErrorKind::kUnsupported, "a table without columns cannot be written");
  FIRN_ASSIGN(format.arrow_schema, iceberg::ToArrowSchema(*format.schema));
  FIRN_ASSIGN(format.parquet_schema, MakeParquetSchema(*format.schema));
  format.key_value_metadata =
      arrow::key_value_metadata({"iceberg.schema"}, {iceberg::ToJson(*table.schema()).dump()});
  return Ok();
}

}  // namespace

Result<FileFormat> MakeFileFormat(const iceberg::TableMetadata& table, arrow::MemoryPool* pool) {
  const Properties& properties = table.properties;
  FIRN_TRY(CheckWritable(properties));
  FileFormat format;
  FIRN_TRY(SetSchemas(table, format));
  FIRN_ASSIGN(format.target_file_size_bytes,
              IntegerProperty(properties, property::kTargetFileSizeBytes, INT64_MAX));
  FIRN_ASSIGN(format.row_group_size_bytes,
              IntegerProperty(properties, property::kParquetRowGroupSizeBytes, INT64_MAX));
  Builder builder;
  builder.memory_pool(pool)->created_by("firn " + std::string(Version()))->enable_store_decimal_as_integer();
  builder.version(parquet::ParquetVersion::PARQUET_2_6)->max_row_group_length(INT64_MAX);
  FIRN_TRY(SetCompression(properties, builder));
  FIRN_TRY(SetPages(properties, builder));
  FIRN_TRY(SetColumns(properties, format, builder));
  format.properties = builder.build();
  return format;
}

}  // namespace firn::write
