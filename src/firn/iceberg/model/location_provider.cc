#include "firn/iceberg/model/location_provider.h"

#include <fmt/format.h>

#include "firn/iceberg/model/property.h"
#include "firn/iceberg/model/transform.h"

namespace firn::iceberg {

namespace {

std::string_view WithoutTrailingSlashes(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

/// The last two parts of a location's path; one where it has only one.
std::string LastTwoParts(std::string_view location) {
  const size_t scheme = location.find("://");
  if (scheme != std::string_view::npos) location.remove_prefix(scheme + 3);
  const size_t last = location.rfind('/');
  if (last == std::string_view::npos || last == 0) return std::string(location.substr(last == 0 ? 1 : 0));
  const size_t before = location.rfind('/', last - 1);
  return std::string(location.substr(before == std::string_view::npos ? 0 : before + 1));
}

/// Inside means the same folder or below it, not a neighbour whose name only begins alike.
bool IsInside(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

Status RefuseUnsupported(const std::map<std::string, std::string>& properties) {
  if (const auto impl = FindProperty(properties, property::kLocationProviderImpl)) {
    return Error(ErrorKind::kUnsupported, fmt::format("table property {} names the Java class {}",
                                                      property::kLocationProviderImpl, *impl))
        .WithRemedy("Remove the property, or write this table with an engine that has the class.");
  }
  for (const char* removed : {property::kObjectStoragePathRemoved, property::kFolderStoragePathRemoved}) {
    if (properties.contains(removed)) {
      return Error(ErrorKind::kUnsupported,
                   fmt::format("table property {} is no longer part of Iceberg", removed))
          .WithRemedy(fmt::format("Set {} instead.", property::kDataPath));
    }
  }
  return Ok();
}

}  // namespace

Result<LocationProvider> LocationProvider::Make(std::string_view table_location,
                                                const std::map<std::string, std::string>& properties) {
  FIRN_TRY(RefuseUnsupported(properties));
  const std::string_view location = WithoutTrailingSlashes(table_location);
  LocationProvider provider;
  const auto data_path = FindProperty(properties, property::kDataPath);
  provider.data_path_ =
      data_path ? std::string(WithoutTrailingSlashes(*data_path)) : fmt::format("{}/data", location);
  FIRN_ASSIGN(provider.object_storage_, GetProperty(properties, property::kObjectStorageEnabled));
  FIRN_ASSIGN(provider.partitioned_paths_, GetProperty(properties, property::kObjectStoragePartitionedPaths));
  if (!IsInside(provider.data_path_, location)) provider.context_ = LastTwoParts(location);
  return provider;
}

std::string LocationProvider::WithHash(std::string_view name) const {
  const std::string hash = HashDirectories(name);
  if (!context_.empty()) return fmt::format("{}/{}/{}/{}", data_path_, hash, context_, name);
  if (partitioned_paths_) return fmt::format("{}/{}/{}", data_path_, hash, name);
  return fmt::format("{}/{}-{}", data_path_, hash, name);
}

std::string LocationProvider::DataLocation(std::string_view file_name) const {
  return object_storage_ ? WithHash(file_name) : fmt::format("{}/{}", data_path_, file_name);
}

std::string LocationProvider::DataLocation(const PartitionSpec& spec, const PartitionValues& partition,
                                           std::string_view file_name) const {
  if (spec.fields.empty() || (object_storage_ && !partitioned_paths_)) return DataLocation(file_name);
  return DataLocation(fmt::format("{}/{}", PartitionPath(spec, partition), file_name));
}

std::string HashDirectories(std::string_view name) {
  const auto hash = static_cast<uint32_t>(Murmur3(name));
  std::string bits;
  for (int bit = 19; bit >= 0; --bit) bits.push_back((hash >> bit & 1) != 0 ? '1' : '0');
  return fmt::format("{}/{}/{}/{}", bits.substr(0, 4), bits.substr(4, 4), bits.substr(8, 4), bits.substr(12));
}

}  // namespace firn::iceberg
