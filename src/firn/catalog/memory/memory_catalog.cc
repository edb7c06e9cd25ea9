#include "firn/catalog/memory/memory_catalog.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace firn::catalog {

using iceberg::CatalogCommitResult;
using iceberg::LoadedTable;
using iceberg::Namespace;
using iceberg::TableIdentifier;

namespace {

Error NoSuchTable(const TableIdentifier& table) {
  return {ErrorKind::kNotFound, fmt::format("table {} does not exist", table.ToString())};
}

Error NoSuchNamespace(const Namespace& ns) {
  return {ErrorKind::kNotFound, fmt::format("namespace {} does not exist", fmt::join(ns, "."))};
}

Error TableExists(const TableIdentifier& table) {
  return {ErrorKind::kAlreadyExists, fmt::format("table {} exists", table.ToString())};
}

bool IsIn(const Namespace& ns, const Namespace& parent) {
  return ns.size() == parent.size() + 1 && std::equal(parent.begin(), parent.end(), ns.begin());
}

}  // namespace

MemoryCatalog::MemoryCatalog(std::string name, std::string warehouse, std::shared_ptr<store::Store> store,
                             runtime::Clock& clock)
    : name_(std::move(name)), warehouse_(std::move(warehouse)), store_(std::move(store)), clock_(clock) {}

LoadedTable MemoryCatalog::Loaded(const TableIdentifier& table, const Entry& entry) const {
  return {table, entry.location, entry.metadata, store_};
}

Result<LoadedTable> MemoryCatalog::LoadTable(const TableIdentifier& table) {
  const std::lock_guard lock(mutex_);
  if (failing_loads_ > 0) {
    --failing_loads_;
    return Error(ErrorKind::kUnavailable, "the catalog does not answer (injected)");
  }
  auto it = tables_.find(table);
  if (it == tables_.end()) return NoSuchTable(table);
  return Loaded(table, it->second);
}

Result<LoadedTable> MemoryCatalog::CreateTable(const TableIdentifier& table,
                                               const iceberg::NewTable& definition) {
  const std::lock_guard lock(mutex_);
  if (!namespaces_.contains(table.ns)) return NoSuchNamespace(table.ns);
  if (tables_.contains(table)) return TableExists(table);
  iceberg::NewTable complete = definition;
  if (complete.location.empty())
    complete.location = fmt::format("{}/{}/{}", warehouse_, fmt::join(table.ns, "/"), table.name);
  FIRN_ASSIGN(auto metadata, iceberg::NewTableMetadata(complete, clock_.NowMs()));
  Entry entry{fmt::format("{}/metadata/{:05}.metadata.json", complete.location, versions_++),
              std::make_shared<const iceberg::TableMetadata>(std::move(metadata))};
  return Loaded(table, tables_.emplace(table, std::move(entry)).first->second);
}

Status MemoryCatalog::Apply(const iceberg::TableCommit& commit) {
  auto it = tables_.find(commit.base.identifier);
  if (it == tables_.end()) return NoSuchTable(commit.base.identifier);
  Entry& entry = it->second;
  FIRN_TRY(iceberg::CheckRequirements(entry.metadata.get(), commit.requirements));
  FIRN_ASSIGN(auto next,
              iceberg::ApplyUpdates(*entry.metadata, commit.updates, {clock_.NowMs(), entry.location}));
  entry.location = fmt::format("{}/metadata/{:05}.metadata.json", next.location, versions_++);
  entry.metadata = std::make_shared<const iceberg::TableMetadata>(std::move(next));
  return Ok();
}

CatalogCommitResult MemoryCatalog::CommitTable(const iceberg::TableCommit& commit) {
  if (const auto hook = HookBeforeCommit())
    hook();  // a copy, not under the lock: it may set another hook, or none
  const std::lock_guard lock(mutex_);
  ++commits_seen_;
  CommitFault fault = CommitFault::kNone;
  if (!faults_.empty()) {
    fault = faults_.front();
    faults_.pop_front();
  }
  const Error lost(ErrorKind::kUnknownOutcome, "no answer to the commit (injected)");
  switch (fault) {
    case CommitFault::kConflict:
      return iceberg::CommitConflict{Error(ErrorKind::kConflict, "lost the race (injected)")};
    case CommitFault::kEcho:
      Ignore(Apply(commit));
      return iceberg::CommitConflict{Error(ErrorKind::kConflict, "lost the race with itself (injected)"),
                                     /*may_be_echo=*/true};
    case CommitFault::kRejected:
      return iceberg::CommitRejected{Error(ErrorKind::kPermissionDenied, "not allowed (injected)")};
    case CommitFault::kBlocked:
      Ignore(Apply(commit));
      return iceberg::CommitRejected{Error(ErrorKind::kPermissionDenied, "blocked (injected)"),
                                     /*may_have_passed=*/true};
    case CommitFault::kRequestLost:
      return iceberg::CommitUnknown{lost};
    case CommitFault::kRequestDelayed:
      delayed_.push_back(commit);
      return iceberg::CommitUnknown{lost};
    case CommitFault::kAnswerLost:
      Ignore(Apply(commit));  // whether it was applied is just what the caller cannot know
      return iceberg::CommitUnknown{lost};
    case CommitFault::kNone:
      break;
  }
  Status applied = Apply(commit);
  if (applied.ok())
    return iceberg::CommitDone{Loaded(commit.base.identifier, tables_.at(commit.base.identifier))};
  if (applied.error().kind() == ErrorKind::kConflict)
    return iceberg::CommitConflict{std::move(applied).error()};
  return iceberg::CommitRejected{std::move(applied).error()};
}

Status MemoryCatalog::DropTable(const TableIdentifier& table, bool /*purge*/) {
  const std::lock_guard lock(mutex_);
  if (tables_.erase(table) == 0) return NoSuchTable(table);
  return Ok();
}

Status MemoryCatalog::RenameTable(const TableIdentifier& from, const TableIdentifier& to) {
  const std::lock_guard lock(mutex_);
  if (!tables_.contains(from)) return NoSuchTable(from);
  if (!namespaces_.contains(to.ns)) return NoSuchNamespace(to.ns);
  if (tables_.contains(to)) return TableExists(to);
  auto entry = tables_.extract(from);
  entry.key() = to;
  tables_.insert(std::move(entry));
  return Ok();
}

Result<std::vector<TableIdentifier>> MemoryCatalog::ListTables(const Namespace& ns) {
  const std::lock_guard lock(mutex_);
  std::vector<TableIdentifier> tables;
  for (const auto& [table, entry] : tables_) {
    if (table.ns == ns) tables.push_back(table);
  }
  return tables;
}

Result<std::vector<Namespace>> MemoryCatalog::ListNamespaces(const Namespace& parent) {
  const std::lock_guard lock(mutex_);
  std::vector<Namespace> children;
  for (const auto& [ns, properties] : namespaces_) {
    if (IsIn(ns, parent)) children.push_back(ns);
  }
  return children;
}

Status MemoryCatalog::CreateNamespace(const Namespace& ns, const iceberg::Properties& properties) {
  const std::lock_guard lock(mutex_);
  if (!namespaces_.emplace(ns, properties).second)
    return Error(ErrorKind::kAlreadyExists, fmt::format("namespace {} exists", fmt::join(ns, ".")));
  return Ok();
}

Result<bool> MemoryCatalog::NamespaceExists(const Namespace& ns) {
  const std::lock_guard lock(mutex_);
  return namespaces_.contains(ns);
}

Result<iceberg::Properties> MemoryCatalog::LoadNamespace(const Namespace& ns) {
  const std::lock_guard lock(mutex_);
  auto it = namespaces_.find(ns);
  if (it == namespaces_.end()) return NoSuchNamespace(ns);
  return it->second;
}

Status MemoryCatalog::UpdateNamespace(const Namespace& ns, const std::vector<std::string>& removals,
                                      const iceberg::Properties& updates) {
  FIRN_TRY(iceberg::CheckNamespaceUpdate(ns, removals, updates));
  const std::lock_guard lock(mutex_);
  auto it = namespaces_.find(ns);
  if (it == namespaces_.end()) return NoSuchNamespace(ns);
  for (const std::string& key : removals) it->second.erase(key);
  for (const auto& [key, value] : updates) it->second[key] = value;
  return Ok();
}

Status MemoryCatalog::DropNamespace(const Namespace& ns) {
  const std::lock_guard lock(mutex_);
  if (!namespaces_.contains(ns)) return NoSuchNamespace(ns);
  const bool used =
      std::any_of(tables_.begin(), tables_.end(), [&](const auto& table) { return table.first.ns == ns; }) ||
      std::any_of(namespaces_.begin(), namespaces_.end(),
                  [&](const auto& other) { return IsIn(other.first, ns); });
  if (used)
    return Error(ErrorKind::kInvalidArgument, fmt::format("namespace {} is not empty", fmt::join(ns, ".")));
  namespaces_.erase(ns);
  return Ok();
}

void MemoryCatalog::FailNextCommits(std::vector<CommitFault> faults) {
  const std::lock_guard lock(mutex_);
  faults_.assign(faults.begin(), faults.end());
}

void MemoryCatalog::FailNextLoads(int count) {
  const std::lock_guard lock(mutex_);
  failing_loads_ = count;
}

void MemoryCatalog::BeforeCommit(std::function<void()> hook) {
  const std::lock_guard lock(mutex_);
  before_commit_ = std::move(hook);
}

std::function<void()> MemoryCatalog::HookBeforeCommit() const {
  const std::lock_guard lock(mutex_);
  return before_commit_;
}

int MemoryCatalog::DeliverDelayed() {
  const std::lock_guard lock(mutex_);
  int applied = 0;
  for (const iceberg::TableCommit& commit : std::exchange(delayed_, {}))
    applied += Apply(commit).ok() ? 1 : 0;
  return applied;
}

int MemoryCatalog::commits_seen() const {
  const std::lock_guard lock(mutex_);
  return commits_seen_;
}

}  // namespace firn::catalog
