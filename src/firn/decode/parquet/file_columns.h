#pragma once

#include <arrow/type_fwd.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/decode/column.h"
#include "firn/decode/decoder.h"
#include "firn/decode/parquet/parquet_decoder.h"
#include "firn/record/schema_delta.h"

namespace firn::decode {

/// Where a column at any depth gets its cells from.
struct FileSource {
  Column* column = nullptr;
  int index = -1;         ///< of the field in the enclosing struct or file; -1: the file has none
  std::vector<int> path;  ///< top-level columns mapped into a struct: fields below `index`
  bool as_is = false;     ///< stored in the column's own Arrow type
  bool is_int96 = false;  ///< its timestamps are
  std::vector<FileSource> children = {};
};

/// A part of the file that no column takes.
struct UnknownPart {
  int index = 0;     ///< of the top-level field that it is or lies in
  std::string path;  ///< for people, and in the rescued column
  std::string why_not;
};

/// The columns of one file's schema against the columns of the table.
struct FileColumns {
  std::vector<FileSource> sources;  ///< one a table column
  std::vector<UnknownPart> unknown;
  record::SchemaDelta needs;
};

/// `root`: struct of the table's columns, bound as Column::binding says. In a file without field ids a name
/// that the table's name mapping knows is the column with that id, any other the column of that name.
Result<FileColumns> MatchColumns(const arrow::Schema& file, const BoundSchema& bound, ParquetMatch match,
                                 Column& root);

/// A file's type as that of a new column: ids 0, everything optional, nothing finer than microseconds, INT96
/// as an instant. kUnsupported where Iceberg has none, or where it holds nothing (a column of nulls).
Result<iceberg::TypePtr> NewColumnType(const arrow::DataType& type, bool is_int96);

/// Names of the columns that hold INT96 timestamps (kInt96Columns).
std::set<std::string> Int96ColumnsOf(const arrow::Schema& file);

}  // namespace firn::decode
