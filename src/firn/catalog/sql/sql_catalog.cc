#include "firn/catalog/sql/sql_catalog.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "firn/iceberg/meta/purge.h"
#include "firn/runtime/fault_point.h"
#include "firn/store/attempt_files.h"

namespace firn::catalog::sql {

namespace {

using iceberg::CatalogCommitResult;
using iceberg::CommitConflict;
using iceberg::CommitDone;
using iceberg::CommitRejected;
using iceberg::CommitUnknown;
using iceberg::LoadedTable;
using iceberg::Namespace;
using iceberg::TableCommit;
using iceberg::TableIdentifier;
using iceberg::TableMetadata;

constexpr int kDropTries = 5;

std::string WithoutTrailingSlash(std::string location) {
  while (location.size() > 1 && location.ends_with('/')) location.pop_back();
  return location;
}

/// A folder becomes `file:///...`, the form that every engine takes for a local file.
std::string AsLocation(const std::string& warehouse) {
  return WithoutTrailingSlash(warehouse.starts_with('/') ? "file://" + warehouse : warehouse);
}

/// Whether the session guarantees, for an error of a statement that writes, that nothing was written.
bool ChangedNothing(ErrorKind kind) {
  return kind == ErrorKind::kInvalidArgument || kind == ErrorKind::kUnavailable ||
         kind == ErrorKind::kPermissionDenied || kind == ErrorKind::kResourceExhausted ||
         kind == ErrorKind::kNotFound || kind == ErrorKind::kAlreadyExists;
}

CatalogCommitResult ConflictOrRejected(Error error) {
  if (error.kind() == ErrorKind::kConflict) return CommitConflict{std::move(error)};
  return CommitRejected{std::move(error)};
}

Error AsUnknown(const Error& error) {
  Error unknown(ErrorKind::kUnknownOutcome, error.ToString());
  return std::move(unknown).WithDomain(error.domain());
}

Status AfterStored() {
  FIRN_FAULT_POINT(commit_after_stored);
  return Ok();
}

}  // namespace

Result<std::unique_ptr<SqlCatalog>> SqlCatalog::Open(SqlCatalogConfig config, SqlCatalogDeps deps) {
  const std::string context = fmt::format("catalog '{}'", config.name);
  const db::DatabaseOptions database = DatabaseOf(config);
  std::unique_ptr<SqlCatalog> catalog(new SqlCatalog(std::move(config), database, std::move(deps)));
  FIRN_TRY_CTX(catalog->rows_.Prepare(), context);
  return catalog;
}

Result<std::unique_ptr<SqlCatalog>> SqlCatalog::OpenExisting(SqlCatalogConfig config, SqlCatalogDeps deps) {
  const std::string context = fmt::format("catalog '{}'", config.name);
  db::DatabaseOptions database = DatabaseOf(config);
  if (auto* sqlite = std::get_if<db::SqliteOptions>(&database)) sqlite->create = false;
  std::unique_ptr<SqlCatalog> catalog(new SqlCatalog(std::move(config), database, std::move(deps)));
  FIRN_TRY_CTX(catalog->rows_.Exist(), context);
  return catalog;
}

SqlCatalog::SqlCatalog(SqlCatalogConfig config, const db::DatabaseOptions& database, SqlCatalogDeps deps)
    : config_(std::move(config)),
      deps_(std::move(deps)),
      access_(store::ToStoreAccess(config_.s3)),
      rows_(database, config_.name) {
  FIRN_CHECK(deps_.stores != nullptr && deps_.clock != nullptr && deps_.ids != nullptr,
             "a SQL catalog has all its dependencies");
}

// --- reading

Result<LoadedTable> SqlCatalog::LoadTable(const TableIdentifier& table) {
  FIRN_ASSIGN(auto location, rows_.Find(table));
  auto loaded = LoadAt(table, location);
  if (loaded.ok() || loaded.error().kind() != ErrorKind::kNotFound) return loaded;
  // The file may have been dropped from the log and deleted since the pointer was read: then the pointer has
  // moved on.
  FIRN_ASSIGN(auto again, rows_.Find(table));
  if (again != location) return LoadAt(table, again);
  return Error(ErrorKind::kCorrupt, fmt::format("table {}: the catalog names metadata that is not there: {}",
                                                table.ToString(), loaded.error().ToString()))
      .WithRemedy("Restore the file, or drop the table from the catalog.");
}

Result<LoadedTable> SqlCatalog::LoadAt(const TableIdentifier& table, const std::string& metadata_location) {
  FIRN_ASSIGN(auto metadata_store, deps_.stores->Resolve(metadata_location, access_));
  LoadedTable loaded;
  loaded.identifier = table;
  loaded.metadata_location = metadata_location;
  FIRN_ASSIGN_CTX(auto file, metadata_files_.Read(*metadata_store, metadata_location),
                  "table " + table.ToString());
  loaded.metadata = std::move(file.metadata);
  loaded.metadata_bytes = file.bytes;
  FIRN_ASSIGN(loaded.store, deps_.stores->Resolve(loaded.metadata->location, access_));
  return loaded;
}

Result<std::vector<TableIdentifier>> SqlCatalog::ListTables(const Namespace& ns) {
  FIRN_TRY(RequireNamespace(ns));
  return rows_.List(ns);
}

Result<std::vector<Namespace>> SqlCatalog::ListNamespaces(const Namespace& parent) {
  if (!parent.empty()) FIRN_TRY(RequireNamespace(parent));
  FIRN_ASSIGN(auto all, rows_.Namespaces());
  std::set<Namespace> children;
  for (const auto& ns : all) {
    if (ns.size() <= parent.size() || !std::equal(parent.begin(), parent.end(), ns.begin())) continue;
    children.emplace(ns.begin(), ns.begin() + static_cast<ptrdiff_t>(parent.size()) + 1);
  }
  return std::vector<Namespace>(children.begin(), children.end());
}

Result<bool> SqlCatalog::NamespaceExists(const Namespace& ns) { return rows_.NamespaceExists(ns); }

Status SqlCatalog::RequireNamespace(const Namespace& ns) {
  FIRN_ASSIGN(auto text, NamespaceText(ns));
  FIRN_ASSIGN(bool exists, rows_.NamespaceExists(ns));
  if (exists) return Ok();
  return Error(ErrorKind::kNotFound, fmt::format("namespace {} is not in catalog '{}'", text, config_.name))
      .WithRemedy("Create it first.");
}

// --- namespaces and tables

Status SqlCatalog::CreateNamespace(const Namespace& ns, const iceberg::Properties& properties) {
  FIRN_ASSIGN(auto text, NamespaceText(ns));
  FIRN_ASSIGN(bool exists, rows_.NamespaceExists(ns));
  Error taken(ErrorKind::kAlreadyExists,
              fmt::format("namespace {} is already in catalog '{}'", text, config_.name));
  if (exists) return taken;
  auto added = rows_.AddNamespace(ns, properties);
  if (!added.ok() && added.error().kind() == ErrorKind::kAlreadyExists) return taken;  // someone was quicker
  return added;
}

Result<iceberg::Properties> SqlCatalog::LoadNamespace(const Namespace& ns) {
  FIRN_TRY(RequireNamespace(ns));
  return rows_.NamespaceProperties(ns);
}

Status SqlCatalog::UpdateNamespace(const Namespace& ns, const std::vector<std::string>& removals,
                                   const iceberg::Properties& updates) {
  FIRN_TRY(iceberg::CheckNamespaceUpdate(ns, removals, updates));
  FIRN_TRY(RequireNamespace(ns));
  return rows_.ChangeNamespace(ns, removals, updates);
}

Status SqlCatalog::DropNamespace(const Namespace& ns) {
  FIRN_ASSIGN(auto text, NamespaceText(ns));
  FIRN_TRY(RequireNamespace(ns));
  FIRN_ASSIGN(auto children, ListNamespaces(ns));
  if (children.empty()) {
    FIRN_ASSIGN(const bool removed, rows_.RemoveNamespace(ns));
    if (removed) return Ok();
  }
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("namespace {} of catalog '{}' is not empty", text, config_.name))
      .WithRemedy("Drop or rename what is in it first.");
}

Status SqlCatalog::RenameTable(const TableIdentifier& from, const TableIdentifier& to) {
  if (to.name.empty()) return Error(ErrorKind::kInvalidArgument, "a table needs a name");
  FIRN_TRY(RequireNamespace(to.ns));
  return rows_.Rename(from, to);
}

Result<std::string> SqlCatalog::DefaultLocation(const TableIdentifier& table) {
  FIRN_ASSIGN(const auto properties, rows_.NamespaceProperties(table.ns));
  const auto own = properties.find("location");
  std::string location = AsLocation(own == properties.end() ? config_.warehouse : own->second);
  if (own == properties.end()) {
    for (const auto& level : table.ns) location += "/" + level;
  }
  return location + "/" + table.name;
}

Result<LoadedTable> SqlCatalog::CreateTable(const TableIdentifier& table,
                                            const iceberg::NewTable& definition) {
  if (table.name.empty()) return Error(ErrorKind::kInvalidArgument, "a table needs a name");
  FIRN_TRY(RequireNamespace(table.ns));
  iceberg::NewTable complete = definition;
  if (complete.uuid.empty()) complete.uuid = deps_.ids->Uuid();
  if (complete.location.empty()) {
    FIRN_ASSIGN(complete.location, DefaultLocation(table));
  }
  FIRN_ASSIGN_CTX(auto metadata, iceberg::NewTableMetadata(complete, deps_.clock->NowMs()),
                  "table " + table.ToString());
  FIRN_ASSIGN(auto table_store, deps_.stores->Resolve(metadata.location, access_));
  store::AttemptFiles files(table_store);
  auto written = iceberg::WriteMetadataFile(*table_store, metadata, "", deps_.ids->Uuid(), files);
  if (!written.ok()) {
    files.Delete(store::DefinitelyRejected::NeverSubmitted());
    return std::move(written).error().WithContext("table " + table.ToString());
  }
  FIRN_TRY(InsertNew(table, written->location, files));
  auto shared = std::make_shared<const TableMetadata>(std::move(metadata));
  metadata_files_.Keep(written->location, {shared, written->bytes});
  return LoadedTable{table, written->location, shared, table_store, written->bytes};
}

Status SqlCatalog::InsertNew(const TableIdentifier& table, const std::string& location,
                             store::AttemptFiles& files) {
  auto inserted = rows_.Insert(table, location);
  if (inserted.ok()) return Ok();
  if (!ChangedNothing(inserted.error().kind())) return AsUnknown(inserted.error());
  files.Delete(store::DefinitelyRejected::ByCatalog());
  return inserted;
}

Status SqlCatalog::DropTable(const TableIdentifier& table, bool purge) {
  for (int i = 0; i < kDropTries; ++i) {
    FIRN_ASSIGN(auto location, rows_.Find(table));
    LoadedTable loaded;
    if (purge) {
      // Read before the entry goes: what cannot be read cannot be purged.
      FIRN_ASSIGN(loaded, LoadAt(table, location));
    }
    FIRN_ASSIGN(bool removed, rows_.Remove(table, location));
    if (!removed) continue;  // a commit came in between
    if (!purge) return Ok();
    auto left = iceberg::PurgeTableFiles(*loaded.store, *loaded.metadata, location);
    if (left.empty()) return Ok();
    return Error(ErrorKind::kIo,
                 fmt::format("table {} is dropped, but {} of its files could not be deleted, among them {}",
                             table.ToString(), left.size(), left.front()));
  }
  return Error(ErrorKind::kConflict,
               fmt::format("table {} changes too fast to be dropped", table.ToString()));
}

// --- commit

Result<LoadedTable> SqlCatalog::CurrentBase(const TableCommit& commit) {
  FIRN_ASSIGN(auto location, rows_.Find(commit.base.identifier));
  if (location != commit.base.metadata_location) {
    return Error(ErrorKind::kConflict,
                 fmt::format("table {}: metadata moved from {} to {}", commit.base.identifier.ToString(),
                             commit.base.metadata_location, location));
  }
  FIRN_ASSIGN(auto base, LoadAt(commit.base.identifier, location));
  FIRN_TRY_CTX(iceberg::CheckRequirements(base.metadata.get(), commit.requirements),
               "table " + commit.base.identifier.ToString());
  return base;
}

CatalogCommitResult SqlCatalog::CommitTable(const TableCommit& commit) {
  auto base = CurrentBase(commit);
  if (!base.ok()) return ConflictOrRejected(std::move(base).error());
  if (commit.updates.empty()) return CommitDone{*std::move(base)};
  auto next =
      iceberg::ApplyUpdates(*base->metadata, commit.updates, {deps_.clock->NowMs(), base->metadata_location});
  if (!next.ok())
    return CommitRejected{std::move(next).error().WithContext("table " + base->identifier.ToString())};
  return Publish(*base, *std::move(next));
}

CatalogCommitResult SqlCatalog::Publish(const LoadedTable& base, TableMetadata next) {
  std::string context = "table " + base.identifier.ToString();
  store::AttemptFiles files(base.store);
  auto written =
      iceberg::WriteMetadataFile(*base.store, next, base.metadata_location, deps_.ids->Uuid(), files);
  if (!written.ok()) {
    files.Delete(store::DefinitelyRejected::NeverSubmitted());
    return CommitRejected{std::move(written).error().WithContext(context)};
  }
  auto swapped = rows_.Swap(base.identifier, base.metadata_location, written->location);
  if (!swapped.ok() && !ChangedNothing(swapped.error().kind())) {
    return CommitUnknown{AsUnknown(swapped.error()).WithContext(context)};
  }
  if (!swapped.ok() || !*swapped) {
    files.Delete(store::DefinitelyRejected::ByCatalog());
    if (!swapped.ok()) return CommitRejected{std::move(swapped).error().WithContext(context)};
    return CommitConflict{Error(ErrorKind::kConflict, context + ": another commit came first")};
  }
  if (auto stored = AfterStored(); !stored.ok())
    return CommitUnknown{AsUnknown(stored.error()).WithContext(context)};
  auto metadata = std::make_shared<const TableMetadata>(std::move(next));
  metadata_files_.Keep(written->location, {metadata, written->bytes});
  iceberg::DeleteDroppedMetadata(*base.store, *base.metadata, *metadata);
  return CommitDone{{base.identifier, written->location, metadata, base.store, written->bytes}};
}

}  // namespace firn::catalog::sql
