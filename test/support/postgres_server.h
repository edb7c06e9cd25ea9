#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace firn::test {

/// URI of the PostgreSQL server that the tests of this process use, from $FIRN_TEST_POSTGRES; ./dev test sets
/// it, and so does `test/support/postgres.py run COMMAND`. Empty when the tests are to be skipped
/// (FIRN_TEST_POSTGRES=none).
/// Not set at all is no reason to skip: a lane that lost its server must not look like one that passed.
struct PostgresServer {
  bool set = false;
  std::string uri;
};

inline PostgresServer PostgresFromEnvironment() {
  const char* uri = std::getenv("FIRN_TEST_POSTGRES");
  if (uri == nullptr || *uri == '\0') return {};
  return {true, std::string_view(uri) == "none" ? std::string() : std::string(uri)};
}

inline constexpr char kPostgresMissing[] =
    "no PostgreSQL server: run this by 'test/support/postgres.py run COMMAND', or set "
    "FIRN_TEST_POSTGRES=none to leave these tests out";

}  // namespace firn::test
