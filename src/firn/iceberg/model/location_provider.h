#pragma once

#include <map>
#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/iceberg/model/partition_spec.h"

namespace firn::iceberg {

/// Where the data files of a table go (`write.data.path`, `write.object-storage.*`). A small value; pure.
class LocationProvider {
 public:
  /// kUnsupported for `write.location-provider.impl` (a Java class) and for the removed path properties.
  static Result<LocationProvider> Make(std::string_view table_location,
                                       const std::map<std::string, std::string>& properties);

  std::string DataLocation(std::string_view file_name) const;
  /// `partition` belongs to `spec`; an unpartitioned spec gives the form above.
  std::string DataLocation(const PartitionSpec& spec, const PartitionValues& partition,
                           std::string_view file_name) const;
  const std::string& data_path() const { return data_path_; }

 private:
  std::string WithHash(std::string_view name) const;

  std::string data_path_;
  std::string context_;  ///< last parts of the table location, where the data path lies outside of it
  bool object_storage_ = false;
  bool partitioned_paths_ = true;
};

/// `1001/1001/1001/10011001`: what object storage spreads files by.
std::string HashDirectories(std::string_view name);

}  // namespace firn::iceberg
