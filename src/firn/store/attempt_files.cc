#include "firn/store/attempt_files.h"

#include <utility>

namespace firn::store {

void AttemptFiles::Record(std::string location) {
  std::lock_guard lock(mutex_);
  locations_.insert(std::move(location));
}

std::vector<std::string> AttemptFiles::Locations() const {
  std::lock_guard lock(mutex_);
  return {locations_.begin(), locations_.end()};
}

size_t AttemptFiles::size() const {
  std::lock_guard lock(mutex_);
  return locations_.size();
}

std::vector<std::string> AttemptFiles::Committed(const std::vector<std::string>& unused) {
  std::vector<std::string> ours;
  {
    std::lock_guard lock(mutex_);
    for (const auto& location : unused) {
      if (locations_.contains(location)) ours.push_back(location);
    }
    locations_.clear();
  }
  return DeleteAll(ours);
}

std::vector<std::string> AttemptFiles::Delete(DefinitelyRejected /*ground*/) {
  std::vector<std::string> all;
  {
    std::lock_guard lock(mutex_);
    all.assign(locations_.begin(), locations_.end());
    locations_.clear();
  }
  return DeleteAll(all);
}

void AttemptFiles::LeaveToAgedScan() {
  std::lock_guard lock(mutex_);
  locations_.clear();
}

std::vector<std::string> AttemptFiles::DeleteAll(const std::vector<std::string>& locations) {
  std::vector<std::string> left;
  for (auto& [location, why] : store_->DeleteMany(locations)) left.push_back(std::move(location));
  return left;
}

}  // namespace firn::store
