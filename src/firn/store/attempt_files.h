#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/store/store.h"

namespace firn::store {

/// Why the files of an attempt can be in no table. There is no default: whoever deletes names the ground, and
/// can only name one of these.
class DefinitelyRejected {
 public:
  /// Nothing that names the files was ever sent to a catalog.
  static DefinitelyRejected NeverSubmitted() { return DefinitelyRejected(); }
  /// The catalog answered, for this very request, that it was not and will not be applied.
  static DefinitelyRejected ByCatalog() { return DefinitelyRejected(); }
  /// After an unknown outcome: the head has moved off the pinned parent, and the walk from the head to that
  /// parent was complete and did not meet our commit id.
  static DefinitelyRejected ByCompleteWalk() { return DefinitelyRejected(); }

 private:
  DefinitelyRejected() = default;
};

/// The record of the files that one attempt wrote: door 1 of the two doors to deletion (invariant 4).
///
/// Why deleting here is safe:
///  1. A location is in the record only because this attempt made its name, with an id of its own in it, and
///  created the file
///     under "must not exist". So no other attempt, process or engine ever wrote a file of that name.
///  2. A table can name such a file only through a commit that this process sent. DefinitelyRejected says
///  that none was applied
///     and none can be applied later; its three grounds are the only ones there are.
///  3. Without such a ground nothing is deleted: not by the destructor, not on an error, not after an unknown
///  outcome. The files
///     then stay for the aged, reachability-checked scan (door 2). It fails closed: a leaked file costs
///     space, a wrong deletion costs a table.
///
/// A file is recorded before it is created, so that a failure in between leaks nothing. Thread-safe.
class AttemptFiles {
 public:
  explicit AttemptFiles(std::shared_ptr<Store> store) : store_(std::move(store)) {}
  AttemptFiles(const AttemptFiles&) = delete;
  AttemptFiles& operator=(const AttemptFiles&) = delete;

  /// Notes a location that this attempt is about to create.
  void Record(std::string location);
  std::vector<std::string> Locations() const;
  size_t size() const;

  /// The attempt was committed: its files are the table's now and leave the record, but `unused`, which the
  /// committed snapshot does not need (lists of lost tries, manifests that were merged away before they were
  /// committed), are deleted. Only recorded locations are touched. Returns what could not be deleted.
  std::vector<std::string> Committed(const std::vector<std::string>& unused);
  /// Deletes every recorded file. Best effort: returns what could not be deleted, which stays for the aged
  /// scan.
  std::vector<std::string> Delete(DefinitelyRejected ground);
  /// The outcome is unknown and stays so: forgets the files without touching them.
  void LeaveToAgedScan();

 private:
  std::vector<std::string> DeleteAll(const std::vector<std::string>& locations);

  std::shared_ptr<Store> store_;
  mutable std::mutex mutex_;
  std::set<std::string> locations_;
};

}  // namespace firn::store
