#pragma once

#include <vector>

#include "firn/cli/services.h"

namespace firn::app {

/// The libraries this program is made of, as they are at run time where they can tell.
std::vector<cli::LibraryVersion> LibraryVersions();

}  // namespace firn::app
