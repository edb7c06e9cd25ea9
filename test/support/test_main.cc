#include <gmock/gmock.h>

#include <cstdlib>

int main(int argc, char** argv) {
  // Arrow's own allocator hides overruns from ASan and gives false races under TSan; it reads this on first
  // use.
  setenv("ARROW_DEFAULT_MEMORY_POOL", "system", 0);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
