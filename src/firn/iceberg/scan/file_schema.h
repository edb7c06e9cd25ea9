#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/scan/name_mapping.h"

namespace parquet::arrow {
struct SchemaManifest;
}

namespace firn::iceberg {

/// One field of a Parquet file with its Iceberg id. Children: those of a struct, the element of a list, key
/// and value of a map.
struct FileField {
  std::optional<int32_t> id;
  std::string name;
  std::shared_ptr<arrow::DataType> type;
  std::vector<FileField> children = {};
  std::vector<int> leaves = {};  ///< Parquet column indices below (or of) this field
};

/// Fields of a file. Where none of them has an id, `mapping` gives the ids by name; kUnsupported when there
/// is none either.
Result<std::vector<FileField>> ReadFileSchema(const parquet::arrow::SchemaManifest& manifest,
                                              const NameMapping* mapping);

/// The field with this id on one level; null when there is none.
const FileField* FindFileField(const std::vector<FileField>& fields, int32_t id);

}  // namespace firn::iceberg
