#include "firn/iceberg/meta/metadata_file.h"

#include <algorithm>
#include <set>

#include "firn/iceberg/model/property.h"
#include "firn/runtime/fault_point.h"

namespace firn::iceberg {

Result<MetadataFile> MetadataFiles::Read(store::Store& store, const std::string& location) {
  if (MetadataFile known = Find(location); known.metadata != nullptr) return known;
  FIRN_ASSIGN_CTX(auto bytes, store.ReadAll(location), "table metadata");
  FIRN_ASSIGN(auto metadata, ParseTableMetadata(bytes, location));
  MetadataFile file{std::make_shared<const TableMetadata>(std::move(metadata)),
                    static_cast<int64_t>(bytes.size())};
  Keep(location, file);
  return file;
}

void MetadataFiles::Keep(const std::string& location, MetadataFile file) {
  std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.first == location; });
  entries_.emplace_front(location, std::move(file));
  if (entries_.size() > capacity_) entries_.pop_back();
}

MetadataFile MetadataFiles::Find(const std::string& location) {
  std::lock_guard lock(mutex_);
  auto it = std::find_if(entries_.begin(), entries_.end(),
                         [&](const Entry& entry) { return entry.first == location; });
  if (it == entries_.end()) return {};
  entries_.splice(entries_.begin(), entries_, it);
  return it->second;
}

Result<WrittenMetadata> WriteMetadataFile(store::Store& store, const TableMetadata& metadata,
                                          const std::string& previous_location, const std::string& uuid,
                                          store::AttemptFiles& files) {
  FIRN_ASSIGN(auto bytes, SerializeTableMetadata(
                              metadata, GetProperty(metadata.properties, property::kMetadataCompression)));
  std::string location = NewMetadataLocation(metadata, previous_location, uuid);
  files.Record(location);
  FIRN_TRY_CTX(store.WriteAll(location, bytes, store::IfExists::kFail), "table metadata");
  FIRN_FAULT_POINT(metadata_after_write);
  return WrittenMetadata{std::move(location), static_cast<int64_t>(bytes.size())};
}

void DeleteDroppedMetadata(store::Store& store, const TableMetadata& base, const TableMetadata& committed) {
  auto enabled = GetProperty(committed.properties, property::kMetadataDeleteAfterCommit);
  if (!enabled.ok() || !*enabled) return;
  std::set<std::string> kept;
  for (const auto& entry : committed.metadata_log) kept.insert(entry.metadata_file);
  std::vector<std::string> dropped;
  for (const auto& entry : base.metadata_log) {
    if (!kept.contains(entry.metadata_file)) dropped.push_back(entry.metadata_file);
  }
  store.DeleteMany(dropped);  // what stays behind is found by the scan for unreferenced files
}

}  // namespace firn::iceberg
