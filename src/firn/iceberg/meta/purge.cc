#include "firn/iceberg/meta/purge.h"

#include <map>
#include <set>
#include <utility>

#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/model/property.h"

namespace firn::iceberg {

namespace {

constexpr size_t kBatch = 1000;  // as many as S3 deletes at once

class Purge {
 public:
  Purge(store::Store& store, const TableMetadata& metadata) : store_(store), metadata_(metadata) {}

  std::vector<std::string> Run(const std::string& metadata_location) {
    std::map<std::string, ManifestFile> manifests = Manifests();
    if (MayCollectGarbage()) {
      for (const auto& [path, manifest] : manifests) DeleteContent(manifest);
    }
    for (const auto& [path, manifest] : manifests) Delete(path);
    for (const auto& snapshot : metadata_.snapshots) Delete(snapshot.manifest_list);
    DeleteStatistics(metadata_.statistics);
    DeleteStatistics(metadata_.partition_statistics);
    for (const auto& entry : metadata_.metadata_log) Delete(entry.metadata_file);
    Delete(metadata_location);
    Flush();
    return std::move(left_);
  }

 private:
  bool MayCollectGarbage() const {
    auto enabled = GetProperty(metadata_.properties, property::kGcEnabled);
    return enabled.ok() && *enabled;
  }

  std::map<std::string, ManifestFile> Manifests() {
    std::map<std::string, ManifestFile> manifests;
    for (const auto& snapshot : metadata_.snapshots) {
      auto list = ReadManifestList(store_, snapshot);
      if (!list.ok()) {
        left_.push_back(snapshot.manifest_list);
        continue;
      }
      for (auto& manifest : *list) manifests.emplace(manifest.path, std::move(manifest));
    }
    return manifests;
  }

  void DeleteContent(const ManifestFile& manifest) {
    auto entries = ReadManifest(store_, manifest, metadata_);
    if (!entries.ok()) {
      left_.push_back(manifest.path);
      return;
    }
    for (const auto& entry : *entries) Delete(entry.file.file_path);
  }

  void DeleteStatistics(const nlohmann::json& entries) {
    if (!entries.is_array()) return;
    for (const auto& entry : entries) {
      auto path = entry.find("statistics-path");
      if (path != entry.end() && path->is_string()) Delete(path->get<std::string>());
    }
  }

  void Delete(const std::string& location) {
    if (location.empty() || !done_.insert(location).second) return;
    pending_.push_back(location);
    if (pending_.size() == kBatch) Flush();
  }

  void Flush() {
    for (auto& [location, why] : store_.DeleteMany(pending_)) left_.push_back(std::move(location));
    pending_.clear();
  }

  store::Store& store_;
  const TableMetadata& metadata_;
  std::set<std::string> done_;
  std::vector<std::string> pending_;
  std::vector<std::string> left_;
};

}  // namespace

std::vector<std::string> PurgeTableFiles(store::Store& store, const TableMetadata& metadata,
                                         const std::string& metadata_location) {
  return Purge(store, metadata).Run(metadata_location);
}

}  // namespace firn::iceberg
