#include "firn/iceberg/meta/append.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "firn/iceberg/meta/manifest_merge.h"
#include "firn/iceberg/meta/partition_avro.h"
#include "firn/iceberg/meta/summary.h"
#include "firn/iceberg/model/property.h"
#include "firn/runtime/fault_point.h"

namespace firn::iceberg {

namespace {

/// Bounds the memory of writing one; at about 300 packed bytes an entry this stays near the usual target of 8
/// MiB.
constexpr size_t kMaxFilesPerManifest = 20'000;

/// Head that the new snapshot follows; null for an empty table.
Result<const Snapshot*> ParentOf(const TableMetadata& base, const std::string& branch) {
  auto ref = base.refs.find(branch);
  if (ref == base.refs.end()) return base.current_snapshot();
  if (ref->second.type != RefType::kBranch) {
    return Error(ErrorKind::kInvalidArgument, fmt::format("'{}' is a tag; commits go to branches", branch));
  }
  return base.Head(branch);
}

SnapshotRef RefTo(const TableMetadata& base, const std::string& branch, int64_t snapshot_id) {
  auto old = base.refs.find(branch);
  SnapshotRef ref = old == base.refs.end() ? SnapshotRef{} : old->second;
  ref.snapshot_id = snapshot_id;
  return ref;
}

Result<ManifestWriteOptions> WriteOptions(const TableMetadata& base) {
  ManifestWriteOptions options;
  options.format_version = base.format_version;
  options.compression = GetProperty(base.properties, property::kManifestCompression);
  FIRN_ASSIGN(options.compression_level,
              FindInt32Property(base.properties, property::kManifestCompressionLevel));
  return options;
}

/// Whether manifests of a spec can be merged. Without the source columns' types, or with a partition value
/// that Firn does not write, they stay as they are.
bool CanWriteAgain(const TableMetadata& base, int32_t spec_id) {
  const PartitionSpec* spec = base.FindSpec(spec_id);
  return spec != nullptr && SchemaForSpec(base, *spec) != nullptr &&
         !HasFixedField(*PartitionTypeForReading(base, *spec));
}

/// Known to hold deleted entries only: nothing that a later reader or commit would need.
bool IsSpent(const ManifestFile& manifest) {
  return manifest.added_files_count == 0 && manifest.existing_files_count == 0;
}

}  // namespace

/// A merged manifest and what it was made of.
struct AppendBuilder::Merged {
  std::vector<std::pair<std::string, std::optional<int64_t>>> inputs;  ///< path and first row id
  ManifestFile manifest;
};

std::string MetadataFolder(const TableMetadata& table) {
  auto folder =
      FindProperty(table.properties, property::kMetadataPath).value_or(table.location + "/metadata");
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

AppendBuilder::AppendBuilder(std::shared_ptr<store::Store> store, AppendContent content)
    : store_(std::move(store)), content_(std::move(content)) {}

AppendBuilder::~AppendBuilder() = default;

Result<BuiltAppend> AppendBuilder::Build(const TableMetadata& base, int attempt, int64_t now_ms) {
  FIRN_TRY(CheckContent(base));
  FIRN_ASSIGN(const Snapshot* parent, ParentOf(base, content_.branch));
  FIRN_TRY(WriteNewManifests(base));
  ManifestCounts counts;
  FIRN_ASSIGN(auto manifests, BuildManifests(base, parent, counts.replaced));
  for (const auto& manifest : manifests) {
    ++(manifest.added_snapshot_id == content_.snapshot_id ? counts.created : counts.kept);
  }
  BuiltAppend built;
  Snapshot& snapshot = built.snapshot;
  snapshot.snapshot_id = content_.snapshot_id;
  if (parent != nullptr) snapshot.parent_snapshot_id = parent->snapshot_id;
  snapshot.sequence_number = base.last_sequence_number + 1;
  snapshot.timestamp_ms = std::max(now_ms, base.last_updated_ms);
  if (parent != nullptr) snapshot.timestamp_ms = std::max(snapshot.timestamp_ms, parent->timestamp_ms);
  snapshot.operation = "append";
  snapshot.schema_id = base.current_schema_id;
  FIRN_ASSIGN(snapshot.summary, AppendSummary(base, parent, content_.files, counts));
  snapshot.summary.insert(content_.summary.begin(), content_.summary.end());
  FIRN_TRY(WriteList(base, attempt, snapshot, manifests));
  built.updates.emplace_back(update::AddSnapshot{snapshot});
  built.updates.emplace_back(
      update::SetSnapshotRef{content_.branch, RefTo(base, content_.branch, snapshot.snapshot_id)});
  return built;
}

Status AppendBuilder::CheckContent(const TableMetadata& base) const {
  if (base.format_version < 2) {
    return Error(ErrorKind::kUnsupported, "the table has format version 1, which Firn only reads")
        .WithRemedy("Upgrade it first: set the table property format-version to 2 with any engine.");
  }
  if (base.FindSnapshot(content_.snapshot_id) != nullptr) {
    return Error(ErrorKind::kAlreadyExists,
                 fmt::format("snapshot {} is already in the table", content_.snapshot_id));
  }
  for (const auto& file : content_.files) {
    if (file.content != FileContent::kData)
      return Error(ErrorKind::kInternal, file.file_path + ": an append takes data files only");
  }
  return Ok();
}

Status AppendBuilder::WriteNewManifests(const TableMetadata& base) {
  if (new_manifests_written_) return Ok();
  std::map<int32_t, std::vector<const DataFile*>, std::greater<>> by_spec;
  for (const auto& file : content_.files) by_spec[file.spec_id].push_back(&file);
  new_manifests_.clear();
  for (const auto& [spec_id, files] : by_spec) {
    for (size_t from = 0; from < files.size(); from += kMaxFilesPerManifest) {
      size_t to = std::min(files.size(), from + kMaxFilesPerManifest);
      FIRN_TRY(WriteNewManifest(
          base, spec_id,
          {files.begin() + static_cast<ptrdiff_t>(from), files.begin() + static_cast<ptrdiff_t>(to)}));
    }
  }
  new_manifests_written_ = true;
  return Ok();
}

Status AppendBuilder::WriteNewManifest(const TableMetadata& base, int32_t spec_id,
                                       const std::vector<const DataFile*>& files) {
  const PartitionSpec* spec = base.FindSpec(spec_id);
  if (spec == nullptr) {
    return Error(ErrorKind::kConflict, fmt::format("{}: partition spec {} is no longer in the table",
                                                   files.front()->file_path, spec_id));
  }
  SchemaPtr schema = SchemaForSpec(base, *spec);
  std::vector<ManifestEntry> entries;
  entries.reserve(files.size());
  for (const DataFile* file : files) {
    auto& entry = entries.emplace_back();
    entry.snapshot_id = content_.snapshot_id;
    entry.file = *file;
  }
  FIRN_ASSIGN(auto manifest, WriteOne(base, schema == nullptr ? base.schema() : schema, *spec, entries));
  new_manifests_.push_back(std::move(manifest));
  FIRN_FAULT_POINT(manifest_after_write);
  return Ok();
}

Result<ManifestFile> AppendBuilder::WriteOne(const TableMetadata& base, const SchemaPtr& schema,
                                             const PartitionSpec& spec,
                                             const std::vector<ManifestEntry>& entries) {
  FIRN_ASSIGN(auto options, WriteOptions(base));
  std::string location =
      fmt::format("{}/{}-m{}.avro", MetadataFolder(base), content_.commit_uuid, next_manifest_++);
  written_.push_back(location);
  return WriteManifest(*store_, location, *schema, spec, ManifestContent::kData, content_.snapshot_id,
                       entries, options);
}

Result<std::vector<ManifestFile>> AppendBuilder::BuildManifests(const TableMetadata& base,
                                                                const Snapshot* parent, int64_t& replaced) {
  std::vector<ManifestFile> data = new_manifests_;
  std::vector<ManifestFile> deletes;
  if (parent != nullptr) {
    FIRN_ASSIGN(auto carried, ReadManifestList(*store_, *parent));
    for (auto& manifest : carried) {
      if (IsSpent(manifest)) continue;
      (manifest.content == ManifestContent::kData ? data : deletes).push_back(std::move(manifest));
    }
  }
  FIRN_ASSIGN(auto manifests, MergeManifests(base, data, replaced));
  std::move(deletes.begin(), deletes.end(), std::back_inserter(manifests));
  return manifests;
}

Result<std::vector<ManifestFile>> AppendBuilder::MergeManifests(const TableMetadata& base,
                                                                const std::vector<ManifestFile>& data,
                                                                int64_t& replaced) {
  FIRN_ASSIGN(auto rules, MergeRules::Of(base));
  std::vector<ManifestFile> manifests;
  for (auto& bin : PlanMerge(data, rules)) {
    if (bin.size() == 1 || !CanWriteAgain(base, bin.front().spec_id)) {
      std::move(bin.begin(), bin.end(), std::back_inserter(manifests));
      continue;
    }
    replaced += std::count_if(bin.begin(), bin.end(), [&](const ManifestFile& input) {
      return input.added_snapshot_id != content_.snapshot_id;
    });
    FIRN_ASSIGN(auto merged, Merge(base, bin));
    manifests.push_back(std::move(merged));
  }
  return manifests;
}

Result<ManifestFile> AppendBuilder::Merge(const TableMetadata& base, const std::vector<ManifestFile>& bin) {
  Merged merged;
  for (const auto& input : bin) merged.inputs.emplace_back(input.path, input.first_row_id);
  auto known = std::find_if(merged_.begin(), merged_.end(),
                            [&](const Merged& old) { return old.inputs == merged.inputs; });
  if (known != merged_.end()) return known->manifest;
  std::vector<ManifestEntry> entries;
  for (const auto& input : bin) {
    FIRN_ASSIGN(auto read, ReadManifest(*store_, input, base));
    FIRN_ASSIGN_CTX(auto kept, MergedEntries(std::move(read), content_.snapshot_id),
                    "manifest " + input.path);
    std::move(kept.begin(), kept.end(), std::back_inserter(entries));
  }
  const PartitionSpec* spec = base.FindSpec(bin.front().spec_id);
  FIRN_ASSIGN(merged.manifest, WriteOne(base, SchemaForSpec(base, *spec), *spec, entries));
  merged_.push_back(merged);
  return merged.manifest;
}

Status AppendBuilder::WriteList(const TableMetadata& base, int attempt, Snapshot& snapshot,
                                std::vector<ManifestFile>& manifests) {
  snapshot.manifest_list = fmt::format("{}/snap-{}-{}-{}.avro", MetadataFolder(base), content_.snapshot_id,
                                       attempt, content_.commit_uuid);
  written_.push_back(snapshot.manifest_list);
  FIRN_ASSIGN(int64_t assigned, WriteManifestList(*store_, snapshot.manifest_list, snapshot,
                                                  base.format_version, manifests, base.next_row_id));
  if (base.format_version >= 3) {
    snapshot.first_row_id = base.next_row_id;
    snapshot.added_rows = assigned;
  }
  auto& named = manifests_by_list_[snapshot.manifest_list];
  for (const auto& manifest : manifests) named.insert(manifest.path);
  FIRN_FAULT_POINT(manifest_list_after_write);
  return Ok();
}

std::vector<std::string> AppendBuilder::UnusedAfterCommit(const Snapshot& committed) const {
  auto named = manifests_by_list_.find(committed.manifest_list);
  if (named == manifests_by_list_.end()) return {};
  std::vector<std::string> unused;
  for (const auto& location : written_) {
    if (location != committed.manifest_list && !named->second.contains(location)) unused.push_back(location);
  }
  return unused;
}

}  // namespace firn::iceberg
