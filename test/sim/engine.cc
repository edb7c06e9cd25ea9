#include "sim/engine.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "firn/iceberg/meta/append.h"

namespace firn::sim {

using iceberg::ManifestEntry;
using iceberg::ManifestFile;
using iceberg::Snapshot;
using iceberg::TableMetadata;

namespace {

constexpr int64_t kTakesOneIn = 2;

iceberg::requirement::RefSnapshotId HeadIs(const TableMetadata& table) {
  return {iceberg::kMainBranch, table.current_snapshot_id};
}

}  // namespace

std::string Engine::NewFile(const TableMetadata& table, const char* kind) {
  return fmt::format("{}/{}/engine-{}", table.location, kind, ids_.Uuid());
}

iceberg::DataFile Engine::Copy(const iceberg::DataFile& file) {
  iceberg::DataFile copy = file;
  copy.file_path += "-rewritten-" + ids_.Uuid().substr(0, 8);
  const auto original = copies_.find(file.file_path);
  copies_[copy.file_path] = original == copies_.end() ? file.file_path : original->second;
  return copy;
}

// Takes some of its live files out; the manifest of those that stay is written anew.
Status Engine::RewriteManifest(const iceberg::LoadedTable& base, const ManifestFile& manifest,
                               int64_t snapshot_id, Rewritten& out) {
  FIRN_ASSIGN(auto entries, iceberg::ReadManifest(*disk_, manifest, *base.metadata));
  bool touched = false;
  std::vector<ManifestEntry> kept;
  for (ManifestEntry& entry : entries) {
    if (!entry.live()) continue;
    if (scheduler_.OneIn(kTakesOneIn)) {
      touched = true;
      iceberg::DataFile copy = Copy(entry.file);
      FIRN_ASSIGN(auto bytes, disk_->ReadAll(entry.file.file_path));
      FIRN_TRY(disk_->WriteAll(copy.file_path, bytes, store::IfExists::kFail));
      out.written.push_back(copy.file_path);
      out.added.push_back(
          {iceberg::EntryStatus::kAdded, snapshot_id, std::nullopt, std::nullopt, std::move(copy)});
      entry.status = iceberg::EntryStatus::kDeleted;
      entry.snapshot_id = snapshot_id;
    } else {
      entry.status = iceberg::EntryStatus::kExisting;
    }
    kept.push_back(std::move(entry));
  }
  if (!touched) {
    out.manifests.push_back(manifest);
    return Ok();
  }
  const std::string location = NewFile(*base.metadata, "metadata");
  FIRN_ASSIGN(auto written,
              iceberg::WriteManifest(
                  *disk_, location, *base.metadata->schema(), *base.metadata->FindSpec(manifest.spec_id),
                  iceberg::ManifestContent::kData, snapshot_id, kept,
                  {.format_version = 2, .compression = "uncompressed", .compression_level = {}}));
  out.written.push_back(location);
  out.manifests.push_back(std::move(written));
  return Ok();
}

Result<Snapshot> Engine::Stage(const iceberg::LoadedTable& base, int64_t snapshot_id, Rewritten& out) {
  const TableMetadata& table = *base.metadata;
  FIRN_ASSIGN(auto manifests, iceberg::ReadManifestList(*disk_, *table.current_snapshot()));
  for (const ManifestFile& manifest : manifests) FIRN_TRY(RewriteManifest(base, manifest, snapshot_id, out));
  if (out.added.empty()) return Error(ErrorKind::kNotFound, "nothing to rewrite");
  const std::string added = NewFile(table, "metadata");
  FIRN_ASSIGN(auto manifest,
              iceberg::WriteManifest(
                  *disk_, added, *table.schema(), table.spec(), iceberg::ManifestContent::kData, snapshot_id,
                  out.added, {.format_version = 2, .compression = "uncompressed", .compression_level = {}}));
  out.written.push_back(added);
  out.manifests.insert(out.manifests.begin(), std::move(manifest));
  Snapshot snapshot;
  snapshot.snapshot_id = snapshot_id;
  snapshot.parent_snapshot_id = table.current_snapshot_id;
  snapshot.sequence_number = table.last_sequence_number + 1;
  snapshot.timestamp_ms = std::max(clock_.NowMs(), table.last_updated_ms);
  snapshot.manifest_list = NewFile(table, "metadata");
  snapshot.operation = "replace";
  snapshot.summary = {{"engine-name", "another"}};
  snapshot.schema_id = table.current_schema_id;
  FIRN_TRY(iceberg::WriteManifestList(*disk_, snapshot.manifest_list, snapshot, 2, out.manifests, 0));
  out.written.push_back(snapshot.manifest_list);
  return snapshot;
}

Status Engine::Rewrite(const iceberg::TableIdentifier& name) {
  FIRN_ASSIGN(auto base, server_.tables().LoadTable(name));
  if (base.metadata->current_snapshot() == nullptr) return Ok();
  const int64_t snapshot_id = ids_.SnapshotId();
  Rewritten rewritten;
  // Another expiry may take the files away while this one reads: then it gives up.
  auto snapshot = Stage(base, snapshot_id, rewritten);
  if (!snapshot.ok())
    return snapshot.error().kind() == ErrorKind::kNotFound ? Ok() : Status(snapshot.error());
  Pause();
  iceberg::TableCommit commit{base, {}, {}, ids_.UuidV7(clock_.NowMs())};
  commit.requirements = {iceberg::requirement::TableUuid{base.metadata->table_uuid}, HeadIs(*base.metadata)};
  commit.updates = {iceberg::update::AddSnapshot{*snapshot},
                    iceberg::update::SetSnapshotRef{iceberg::kMainBranch,
                                                    {.snapshot_id = snapshot_id,
                                                     .type = iceberg::RefType::kBranch,
                                                     .min_snapshots_to_keep = {},
                                                     .max_snapshot_age_ms = {},
                                                     .max_ref_age_ms = {}}}};
  if (std::holds_alternative<iceberg::CommitDone>(server_.Commit(commit))) {
    ++rewrites_;
    return Ok();
  }
  for (const std::string& file : rewritten.written) FIRN_TRY(disk_->Delete(file));
  return Ok();
}

Status Engine::AddFilesOf(const TableMetadata& table, const Snapshot& snapshot,
                          std::set<std::string>& files) {
  files.insert(snapshot.manifest_list);
  FIRN_ASSIGN(auto manifests, iceberg::ReadManifestList(*disk_, snapshot));
  for (const ManifestFile& manifest : manifests) {
    if (!files.insert(manifest.path).second) continue;
    FIRN_ASSIGN(auto entries, iceberg::ReadManifest(*disk_, manifest, table));
    for (const ManifestEntry& entry : entries) {
      if (entry.live()) files.insert(entry.file.file_path);
    }
  }
  return Ok();
}

Status Engine::Expire(const iceberg::TableIdentifier& name) {
  FIRN_ASSIGN(auto base, server_.tables().LoadTable(name));
  const TableMetadata& table = *base.metadata;
  const auto keeps = static_cast<size_t>(scheduler_.Between(1, 3));
  if (table.current_snapshot() == nullptr || table.snapshots.size() <= keeps) return Ok();
  std::set<const Snapshot*> kept;
  for (const Snapshot* at = table.current_snapshot(); at != nullptr && kept.size() < keeps;
       at = at->parent_snapshot_id ? table.FindSnapshot(*at->parent_snapshot_id) : nullptr) {
    kept.insert(at);
  }
  std::set<std::string> live;
  std::set<std::string> gone;
  iceberg::update::RemoveSnapshots remove;
  for (const Snapshot& snapshot : table.snapshots) {
    const bool stays = kept.contains(&snapshot);
    if (!stays) remove.snapshot_ids.push_back(snapshot.snapshot_id);
    Status listed = AddFilesOf(table, snapshot, stays ? live : gone);
    if (!listed.ok()) return listed.error().kind() == ErrorKind::kNotFound ? Ok() : std::move(listed);
  }
  Pause();
  iceberg::TableCommit commit{base, {}, {std::move(remove)}, ids_.UuidV7(clock_.NowMs())};
  commit.requirements = {iceberg::requirement::TableUuid{table.table_uuid}, HeadIs(table)};
  if (!std::holds_alternative<iceberg::CommitDone>(server_.Commit(commit))) return Ok();
  ++expiries_;
  for (const std::string& file : gone) {
    if (!live.contains(file)) FIRN_TRY(disk_->Delete(file));
  }
  return Ok();
}

}  // namespace firn::sim
