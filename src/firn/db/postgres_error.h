#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/base/error.h"

namespace firn::db {

/// Why the server, or the way to it, gave no result.
struct PostgresFailure {
  std::string sqlstate;          ///< the server's code (SQLSTATE); empty when it did not answer
  std::string message;           ///< the server's or libpq's words
  bool connection_lost = false;  ///< nothing more comes from this connection
};

/// What was being done when it failed: decides what a lost connection means.
enum class PostgresAction : uint8_t {
  kConnect,
  kRead,   ///< also a statement inside a transaction, which then is rolled back
  kWrite,  ///< a statement that writes by itself, or COMMIT: a lost connection leaves it open
};

Error ErrorOf(const PostgresFailure& failure, PostgresAction action, std::string_view place);

/// The failure of a connection that did not come about, from libpq's text at verbosity VERBOSE: its calls
/// tell the server's code of a refused connection only there.
PostgresFailure ConnectFailure(std::string_view text);

}  // namespace firn::db
