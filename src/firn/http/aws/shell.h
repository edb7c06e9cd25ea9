#pragma once

#include <cstdint>
#include <string>

#include "firn/base/result.h"

namespace firn::http::aws {

/// Runs a command with /bin/sh and gives its standard output (at most 1 MiB). kTimeout when it takes longer
/// (it and what it started are killed), kIo when it cannot be started or ends with another code than 0. The
/// output is in no error text: it may hold secrets.
Result<std::string> RunInShell(const std::string& command, int64_t timeout_ms);

}  // namespace firn::http::aws
