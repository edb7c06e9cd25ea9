#pragma once

#include <memory>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/cli/command.h"
#include "firn/iceberg/catalog.h"
#include "firn/pipeline/pipeline_file.h"

namespace firn::cli {

class Arguments;

/// A catalog of the files, opened, with the key that table names begin with.
struct OpenedCatalog {
  std::string key;
  std::shared_ptr<iceberg::Catalog> catalog;
};

/// `catalog.namespace.table` of the command line, taken apart, with its catalog opened.
struct NamedTable {
  std::string full_name;
  iceberg::TableIdentifier identifier;
  std::shared_ptr<iceberg::Catalog> catalog;
};

/// The `-c FILE` option of the commands that work on catalogs, and what follows from it. A catalog that is
/// not there yet is made only for those that make something in it.
class CatalogAccess {
 public:
  void Declare(Arguments& arguments);
  /// As they were given.
  const std::vector<std::string>& files() const { return files_; }

  Result<OpenedCatalog> OpenCatalog(Context& context, const std::string& key) const;
  Result<OpenedCatalog> OpenOrMakeCatalog(Context& context, const std::string& key) const;
  /// Every catalog of the files, in the order of their keys.
  Result<std::vector<OpenedCatalog>> OpenAll(Context& context) const;
  Result<NamedTable> FindTable(Context& context, const std::string& name) const;
  /// The name of a table to make.
  Result<NamedTable> NewTable(Context& context, const std::string& name) const;
  Result<iceberg::LoadedTable> LoadTable(Context& context, const std::string& name) const;

 private:
  Result<pipeline::PipelineFile> Read(Context& context) const;

  std::vector<std::string> files_;
};

}  // namespace firn::cli
