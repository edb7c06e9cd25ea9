#include "sim/sim_catalog.h"

#include <utility>

#include "sim/mutations.h"

namespace firn::sim {

using iceberg::CatalogCommitResult;
using iceberg::LoadedTable;
using iceberg::Namespace;
using iceberg::TableCommit;
using iceberg::TableIdentifier;

namespace {

constexpr int64_t kClientTimeoutMs = 10'000;
constexpr int64_t kLatestMs = 90'000;

}  // namespace

CatalogCommitResult SimCatalogServer::Commit(const TableCommit& commit) {
  auto before = tables_.LoadTable(commit.base.identifier);
  CatalogCommitResult result = tables_.CommitTable(commit);
  const auto* done = std::get_if<iceberg::CommitDone>(&result);
  if (done != nullptr && before.ok() && observer_) observer_(*before->metadata, done->table);
  return result;
}

void SimCatalogServer::CommitLater(const TableCommit& commit, int64_t ms) {
  ++on_the_way_;
  scheduler_.Spawn(nullptr, [this, commit, ms] {
    scheduler_.SleepFor(ms);
    std::ignore = Commit(commit);  // nobody waits for the answer
    --on_the_way_;
  });
}

Result<LoadedTable> SimCatalog::AsOurs(Result<LoadedTable> loaded) const {
  if (loaded.ok()) loaded->store = store_;
  return loaded;
}

Result<LoadedTable> SimCatalog::LoadTable(const TableIdentifier& table) {
  FIRN_TRY(Ask());
  return AsOurs(server_.tables().LoadTable(table));
}

Result<LoadedTable> SimCatalog::CreateTable(const TableIdentifier& table,
                                            const iceberg::NewTable& definition) {
  FIRN_TRY(Ask());
  auto created = AsOurs(server_.tables().CreateTable(table, definition));
  FIRN_TRY(Ask());
  return created;
}

CatalogCommitResult SimCatalog::CommitTable(const TableCommit& commit) {
  Scheduler& scheduler = network_.scheduler();
  if (Status sent = network_.Pass(0); !sent.ok()) {
    // It may have left before the process was killed.
    if (scheduler.OneIn(2)) server_.CommitLater(commit, scheduler.Between(0, kLatestMs));
    return NobodyAnswers();
  }
  if (network_.Strikes(network_.rates().commit)) return Answer(Befall(commit));
  return Answer(server_.Commit(commit));
}

CatalogCommitResult SimCatalog::Befall(const TableCommit& commit) {
  Scheduler& scheduler = network_.scheduler();
  const Error refused(ErrorKind::kConflict, "lost the race (simulated)");
  switch (scheduler.Between(0, 8)) {
    case 0:
      return iceberg::CommitConflict{refused};
    case 1:  // busy
      return iceberg::CommitRejected{
          Error(ErrorKind::kUnavailable, "try again later (simulated)").WithRetry(RetryHint::kYes)};
    case 2:  // lost
      scheduler.SleepFor(scheduler.Between(0, kClientTimeoutMs));
      return NobodyAnswers();
    case 3:  // applied, but nobody answers
      std::ignore = server_.Commit(commit);
      scheduler.SleepFor(scheduler.Between(0, kClientTimeoutMs));
      return NobodyAnswers();
    case 4:  // late
    case 5:
      server_.CommitLater(commit, scheduler.Between(1, kLatestMs));
      scheduler.SleepFor(scheduler.Between(0, kClientTimeoutMs));
      return NobodyAnswers();
    case 6: {  // twice, the second copy late
      CatalogCommitResult first = server_.Commit(commit);
      server_.CommitLater(commit, scheduler.Between(1, kLatestMs));
      return first;
    }
    case 7:  // twice, and what arrives is the answer to the second copy
      std::ignore = server_.Commit(commit);
      return iceberg::CommitConflict{refused, /*may_be_echo=*/true};
    default:  // somebody in between refuses what has passed
      if (scheduler.OneIn(2)) std::ignore = server_.Commit(commit);
      return iceberg::CommitRejected{Error(ErrorKind::kPermissionDenied, "blocked (simulated)"),
                                     /*may_have_passed=*/true};
  }
}

CatalogCommitResult SimCatalog::Answer(CatalogCommitResult result) {
  if (!network_.Pass(0).ok()) return NobodyAnswers();
  if (auto* done = std::get_if<iceberg::CommitDone>(&result)) done->table.store = store_;
  return result;
}

CatalogCommitResult SimCatalog::NobodyAnswers() {
  Error error(ErrorKind::kUnknownOutcome, "no answer to the commit (simulated)");
  if (MutationScope::active == Mutation::kDeleteOnUnknown)
    return iceberg::CommitRejected{std::move(error).WithRetry(RetryHint::kNo)};
  return iceberg::CommitUnknown{std::move(error)};
}

Status SimCatalog::DropTable(const TableIdentifier& table, bool purge) {
  FIRN_TRY(Ask());
  return server_.tables().DropTable(table, purge);
}
Status SimCatalog::RenameTable(const TableIdentifier& from, const TableIdentifier& to) {
  FIRN_TRY(Ask());
  return server_.tables().RenameTable(from, to);
}
Result<std::vector<TableIdentifier>> SimCatalog::ListTables(const Namespace& ns) {
  FIRN_TRY(Ask());
  return server_.tables().ListTables(ns);
}
Result<std::vector<Namespace>> SimCatalog::ListNamespaces(const Namespace& parent) {
  FIRN_TRY(Ask());
  return server_.tables().ListNamespaces(parent);
}
Status SimCatalog::CreateNamespace(const Namespace& ns, const iceberg::Properties& properties) {
  FIRN_TRY(Ask());
  return server_.tables().CreateNamespace(ns, properties);
}
Result<bool> SimCatalog::NamespaceExists(const Namespace& ns) {
  FIRN_TRY(Ask());
  return server_.tables().NamespaceExists(ns);
}
Result<iceberg::Properties> SimCatalog::LoadNamespace(const Namespace& ns) {
  FIRN_TRY(Ask());
  return server_.tables().LoadNamespace(ns);
}
Status SimCatalog::UpdateNamespace(const Namespace& ns, const std::vector<std::string>& removals,
                                   const iceberg::Properties& updates) {
  FIRN_TRY(Ask());
  return server_.tables().UpdateNamespace(ns, removals, updates);
}
Status SimCatalog::DropNamespace(const Namespace& ns) {
  FIRN_TRY(Ask());
  return server_.tables().DropNamespace(ns);
}

}  // namespace firn::sim
