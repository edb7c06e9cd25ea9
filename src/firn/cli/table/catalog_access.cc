#include "firn/cli/table/catalog_access.h"

#include "firn/cli/arguments.h"
#include "firn/cli/config_files.h"
#include "firn/cli/services.h"
#include "firn/pipeline/config_reader.h"
#include "firn/pipeline/table_definition.h"

namespace firn::cli {

namespace {

Result<OpenedCatalog> Open(Context& context, const pipeline::CatalogSetup& setup) {
  FIRN_ASSIGN_CTX(std::shared_ptr<iceberg::Catalog> catalog, context.services.OpenExistingCatalog(setup),
                  "catalog " + setup.key);
  return OpenedCatalog{setup.key, std::move(catalog)};
}

NamedTable TableIn(const OpenedCatalog& opened, const pipeline::TableName& name) {
  return {name.ToString(), {name.ns, name.name}, opened.catalog};
}

}  // namespace

void CatalogAccess::Declare(Arguments& arguments) {
  arguments
      .Option("-c,--config", files_,
              "File with the catalogs; may be repeated (default: $FIRN_CONFIG, /etc/firn/firn.yaml)")
      .Value("FILE")
      .Repeated();
}

Result<pipeline::PipelineFile> CatalogAccess::Read(Context& context) const {
  FIRN_ASSIGN(const std::vector<std::string> paths, ConfigFiles(files_));
  return pipeline::ReadPipelineFiles(paths, context.services.plugins());
}

Result<OpenedCatalog> CatalogAccess::OpenCatalog(Context& context, const std::string& key) const {
  FIRN_ASSIGN(const pipeline::PipelineFile file, Read(context));
  FIRN_ASSIGN(const pipeline::CatalogSetup* setup, file.FindCatalog(key));
  return Open(context, *setup);
}

Result<OpenedCatalog> CatalogAccess::OpenOrMakeCatalog(Context& context, const std::string& key) const {
  FIRN_ASSIGN(const pipeline::PipelineFile file, Read(context));
  FIRN_ASSIGN(const pipeline::CatalogSetup* setup, file.FindCatalog(key));
  FIRN_ASSIGN_CTX(std::shared_ptr<iceberg::Catalog> catalog, context.services.OpenCatalog(*setup),
                  "catalog " + key);
  return OpenedCatalog{key, std::move(catalog)};
}

Result<std::vector<OpenedCatalog>> CatalogAccess::OpenAll(Context& context) const {
  FIRN_ASSIGN(const pipeline::PipelineFile file, Read(context));
  std::vector<OpenedCatalog> opened;
  for (const auto& [key, setup] : file.catalogs) {
    FIRN_ASSIGN(OpenedCatalog catalog, Open(context, setup));
    opened.push_back(std::move(catalog));
  }
  return opened;
}

Result<NamedTable> CatalogAccess::FindTable(Context& context, const std::string& name) const {
  FIRN_ASSIGN(const pipeline::TableName parsed, pipeline::ParseTableName(name));
  FIRN_ASSIGN(const OpenedCatalog opened, OpenCatalog(context, parsed.catalog));
  return TableIn(opened, parsed);
}

Result<NamedTable> CatalogAccess::NewTable(Context& context, const std::string& name) const {
  FIRN_ASSIGN(const pipeline::TableName parsed, pipeline::ParseTableName(name));
  FIRN_ASSIGN(const OpenedCatalog opened, OpenOrMakeCatalog(context, parsed.catalog));
  return TableIn(opened, parsed);
}

Result<iceberg::LoadedTable> CatalogAccess::LoadTable(Context& context, const std::string& name) const {
  FIRN_ASSIGN(const NamedTable table, FindTable(context, name));
  return table.catalog->LoadTable(table.identifier);
}

}  // namespace firn::cli
