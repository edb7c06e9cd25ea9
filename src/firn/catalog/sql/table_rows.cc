#include "firn/catalog/sql/table_rows.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace firn::catalog::sql {

namespace {

using iceberg::Namespace;
using iceberg::Properties;
using iceberg::TableIdentifier;

constexpr char kCreateTables[] = R"(
CREATE TABLE IF NOT EXISTS iceberg_tables (
  catalog_name VARCHAR(255) NOT NULL,
  table_namespace VARCHAR(255) NOT NULL,
  table_name VARCHAR(255) NOT NULL,
  metadata_location VARCHAR(1000),
  previous_metadata_location VARCHAR(1000),
  iceberg_type VARCHAR(5),
  PRIMARY KEY (catalog_name, table_namespace, table_name)
);
CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
  catalog_name VARCHAR(255) NOT NULL,
  namespace VARCHAR(255) NOT NULL,
  property_key VARCHAR(255) NOT NULL,
  property_value VARCHAR(1000) NOT NULL,
  PRIMARY KEY (catalog_name, namespace, property_key)
);
)";

constexpr char kThisTable[] = " WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?";

/// The property of a namespace that has nothing else.
const std::string kExists = "exists";

Namespace SplitLevels(const std::string& text) {
  Namespace levels;
  size_t from = 0;
  for (size_t dot = text.find('.'); dot != std::string::npos; dot = text.find('.', from)) {
    levels.push_back(text.substr(from, dot - from));
    from = dot + 1;
  }
  levels.push_back(text.substr(from));
  return levels;
}

bool IsAtOrBelow(const Namespace& ns, const Namespace& above) {
  return ns.size() >= above.size() && std::equal(above.begin(), above.end(), ns.begin());
}

Error NoSuchTable(const TableIdentifier& table, const std::string& catalog) {
  return {ErrorKind::kNotFound, fmt::format("table {} is not in catalog '{}'", table.ToString(), catalog)};
}

Error NoCatalog(const std::string& place) {
  return Error(ErrorKind::kNotFound, fmt::format("there is no catalog in {} yet", place))
      .WithRemedy("'firn run', 'firn table create' and 'firn catalog create-namespace' make it.");
}

Error Taken(const TableIdentifier& table, const std::string& catalog) {
  return {ErrorKind::kAlreadyExists,
          fmt::format("table {} is already in catalog '{}'", table.ToString(), catalog)};
}

}  // namespace

Result<std::string> NamespaceText(const Namespace& ns) {
  std::string text;
  for (const auto& level : ns) {
    if (level.empty() || level.find('.') != std::string::npos) {
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("'{}' is not a level of a namespace in a SQL catalog", level));
    }
    text += text.empty() ? level : "." + level;
  }
  if (text.empty())
    return Error(ErrorKind::kInvalidArgument, "a SQL catalog needs a namespace with at least one level");
  return text;
}

TableRows::TableRows(const db::DatabaseOptions& options, std::string catalog_name)
    : pool_(options),
      is_file_(std::holds_alternative<db::SqliteOptions>(options)),
      place_(db::PlaceOf(options)),
      catalog_name_(std::move(catalog_name)) {}

Status TableRows::Prepare() {
  FIRN_ASSIGN(auto session, pool_.Get());
  FIRN_ASSIGN(bool ready, HasTables(*session));
  if (ready) return Ok();
  Status made = MakeTables(*session);
  if (made.ok() || made.error().kind() != ErrorKind::kAlreadyExists) return made;
  FIRN_ASSIGN(ready, HasTables(*session));  // another process made them at the same moment
  return ready ? Ok() : made;
}

Result<bool> TableRows::Exist() {
  auto session = pool_.Get();
  if (!session.ok() && is_file_ && session.error().kind() == ErrorKind::kNotFound) return false;
  if (!session.ok()) return std::move(session).error();
  return HasTables(**session);
}

Result<bool> TableRows::HasTables(db::Session& session) {
  for (const char* table : {"iceberg_tables", "iceberg_namespace_properties"}) {
    FIRN_ASSIGN(const auto columns, session.ColumnsOf(table));
    if (columns.empty()) return false;
  }
  return true;
}

Status TableRows::MakeTables(db::Session& session) {
  FIRN_ASSIGN(auto transaction, db::Transaction::Begin(session));
  FIRN_TRY(session.Execute(kCreateTables));
  return transaction.Commit();
}

Result<std::string> TableRows::TableFilter(db::Session& session) {
  const std::string tables_only = " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)";
  if (is_v1_) return tables_only;
  FIRN_ASSIGN(const auto columns, session.ColumnsOf("iceberg_tables"));
  if (columns.empty()) return NoCatalog(place_);
  if (std::find(columns.begin(), columns.end(), "iceberg_type") == columns.end()) return std::string();
  is_v1_ = true;
  return tables_only;
}

Result<db::SessionPool::Lease> TableRows::GetReady() {
  auto session = pool_.Get();
  if (!session.ok() && is_file_ && session.error().kind() == ErrorKind::kNotFound) return NoCatalog(place_);
  if (!session.ok()) return std::move(session).error();
  FIRN_TRY(TableFilter(**session));
  return session;
}

Result<std::string> TableRows::Find(const TableIdentifier& table) {
  FIRN_ASSIGN(auto ns, NamespaceText(table.ns));
  FIRN_ASSIGN(auto session, GetReady());
  FIRN_ASSIGN(auto filter, TableFilter(*session));
  FIRN_ASSIGN(auto rows, session->Query(fmt::format("SELECT metadata_location FROM iceberg_tables{}{}",
                                                    kThisTable, filter),
                                        {catalog_name_, ns, table.name}));
  if (rows.empty() || rows[0].is_null(0)) return NoSuchTable(table, catalog_name_);
  return rows[0].text(0);
}

Status TableRows::Insert(const TableIdentifier& table, const std::string& metadata_location) {
  FIRN_ASSIGN(auto ns, NamespaceText(table.ns));
  FIRN_ASSIGN(auto session, GetReady());
  FIRN_ASSIGN(auto filter, TableFilter(*session));
  const char* sql =
      filter.empty()
          ? "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location) "
            "VALUES (?, ?, ?, ?)"
          : "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, "
            "iceberg_type) VALUES (?, ?, ?, ?, 'TABLE')";
  auto inserted = session->Change(sql, {catalog_name_, ns, table.name, metadata_location});
  if (inserted.ok()) return Ok();
  if (inserted.error().kind() != ErrorKind::kAlreadyExists) return std::move(inserted).error();
  return Taken(table, catalog_name_);
}

Result<bool> TableRows::Swap(const TableIdentifier& table, const std::string& from, const std::string& to) {
  FIRN_ASSIGN(auto ns, NamespaceText(table.ns));
  FIRN_ASSIGN(auto session, pool_.Get());
  FIRN_ASSIGN(int64_t changed,
              session->Change(fmt::format("UPDATE iceberg_tables SET metadata_location = ?, "
                                          "previous_metadata_location = ?{} AND metadata_location = ?",
                                          kThisTable),
                              {to, from, catalog_name_, ns, table.name, from}));
  return changed == 1;
}

Result<bool> TableRows::Remove(const TableIdentifier& table, const std::string& metadata_location) {
  FIRN_ASSIGN(auto ns, NamespaceText(table.ns));
  FIRN_ASSIGN(auto session, pool_.Get());
  FIRN_ASSIGN(
      int64_t changed,
      session->Change(fmt::format("DELETE FROM iceberg_tables{} AND metadata_location = ?", kThisTable),
                      {catalog_name_, ns, table.name, metadata_location}));
  return changed == 1;
}

Status TableRows::Rename(const TableIdentifier& from, const TableIdentifier& to) {
  FIRN_ASSIGN(auto from_ns, NamespaceText(from.ns));
  FIRN_ASSIGN(auto to_ns, NamespaceText(to.ns));
  FIRN_ASSIGN(auto session, GetReady());
  FIRN_ASSIGN(auto filter, TableFilter(*session));
  auto renamed = session->Change(
      fmt::format("UPDATE iceberg_tables SET table_namespace = ?, table_name = ?{}{}", kThisTable, filter),
      {to_ns, to.name, catalog_name_, from_ns, from.name});
  if (!renamed.ok() && renamed.error().kind() == ErrorKind::kAlreadyExists) return Taken(to, catalog_name_);
  if (!renamed.ok()) return std::move(renamed).error();
  return *renamed == 1 ? Ok() : Status(NoSuchTable(from, catalog_name_));
}

Result<std::vector<TableIdentifier>> TableRows::List(const Namespace& ns) {
  FIRN_ASSIGN(auto text, NamespaceText(ns));
  FIRN_ASSIGN(auto session, GetReady());
  FIRN_ASSIGN(auto filter, TableFilter(*session));
  FIRN_ASSIGN(auto rows,
              session->Query(fmt::format("SELECT table_name FROM iceberg_tables WHERE catalog_name = ? AND "
                                         "table_namespace = ?{} ORDER BY table_name",
                                         filter),
                             {catalog_name_, text}));
  std::vector<TableIdentifier> tables;
  for (const auto& row : rows) tables.push_back({ns, row.text(0)});
  return tables;
}

Result<std::vector<Namespace>> TableRows::Namespaces() {
  FIRN_ASSIGN(auto session, GetReady());
  FIRN_ASSIGN(
      auto rows,
      session->Query("SELECT table_namespace FROM iceberg_tables WHERE catalog_name = ? UNION "
                     "SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ? ORDER BY 1",
                     {catalog_name_, catalog_name_}));
  std::vector<Namespace> namespaces;
  for (const auto& row : rows) namespaces.push_back(SplitLevels(row.text(0)));
  return namespaces;
}

Result<bool> TableRows::NamespaceExists(const Namespace& ns) {
  FIRN_TRY(NamespaceText(ns));
  FIRN_ASSIGN(auto namespaces, Namespaces());
  return std::any_of(namespaces.begin(), namespaces.end(),
                     [&](const Namespace& known) { return IsAtOrBelow(known, ns); });
}

Status TableRows::AddNamespace(const Namespace& ns, const Properties& properties) {
  FIRN_ASSIGN(auto text, NamespaceText(ns));
  FIRN_ASSIGN(auto session, GetReady());
  FIRN_ASSIGN(auto transaction, db::Transaction::Begin(*session));
  Properties all = properties;
  all.insert({kExists, "true"});
  for (const auto& [key, value] : all) {
    FIRN_TRY(session->Change(
        "INSERT INTO iceberg_namespace_properties (catalog_name, namespace, property_key, property_value) "
        "VALUES (?, ?, ?, ?)",
        {catalog_name_, text, key, value}));
  }
  return transaction.Commit();
}

Result<Properties> TableRows::NamespaceProperties(const Namespace& ns) {
  FIRN_ASSIGN(auto text, NamespaceText(ns));
  FIRN_ASSIGN(auto session, GetReady());
  FIRN_ASSIGN(auto rows, session->Query("SELECT property_key, property_value FROM "
                                        "iceberg_namespace_properties WHERE catalog_name = ? AND "
                                        "namespace = ? AND property_key <> ?",
                                        {catalog_name_, text, kExists}));
  Properties properties;
  for (const auto& row : rows) properties[row.text(0)] = row.text(1);
  return properties;
}

Status TableRows::ChangeNamespace(const Namespace& ns, const std::vector<std::string>& removals,
                                  const Properties& updates) {
  FIRN_ASSIGN(auto text, NamespaceText(ns));
  FIRN_ASSIGN(auto session, pool_.Get());
  FIRN_ASSIGN(auto transaction, db::Transaction::Begin(*session));
  for (const auto& key : removals) {
    FIRN_TRY(session->Change(
        "DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ? AND "
        "property_key = ?",
        {catalog_name_, text, key}));
  }
  Properties all = updates;
  all.insert({kExists, "true"});
  for (const auto& [key, value] : all) FIRN_TRY(SetProperty(*session, text, key, value));
  return transaction.Commit();
}

Status TableRows::SetProperty(db::Session& session, const std::string& ns, const std::string& key,
                              const std::string& value) {
  auto set = session.Change(
      "INSERT INTO iceberg_namespace_properties (catalog_name, namespace, property_key, property_value) "
      "VALUES (?, ?, ?, ?) ON CONFLICT (catalog_name, namespace, property_key) "
      "DO UPDATE SET property_value = excluded.property_value",
      {catalog_name_, ns, key, value});
  return set.ok() ? Ok() : Status(std::move(set).error());
}

Result<bool> TableRows::RemoveNamespace(const Namespace& ns) {
  FIRN_ASSIGN(auto text, NamespaceText(ns));
  FIRN_ASSIGN(auto session, pool_.Get());
  FIRN_ASSIGN(auto transaction, db::Transaction::Begin(*session));
  FIRN_ASSIGN(auto used, session->Query("SELECT count(*) FROM iceberg_tables WHERE catalog_name = ? AND "
                                        "table_namespace = ?",
                                        {catalog_name_, text}));
  if (used.at(0).integer(0) > 0) return false;
  FIRN_TRY(
      session->Change("DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?",
                      {catalog_name_, text}));
  FIRN_TRY(transaction.Commit());
  return true;
}

}  // namespace firn::catalog::sql
