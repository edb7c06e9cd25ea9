#pragma once

#include <string>

#include "firn/base/result.h"
#include "firn/store/store.h"

namespace firn::store {

/// Whether objects can be made and deleted in a folder: makes one of its own, `.firn-probe-<id>`, and deletes
/// it. `id` makes the name nobody else's.
Status ProbeWritable(Store& store, const std::string& folder, const std::string& id);

}  // namespace firn::store
