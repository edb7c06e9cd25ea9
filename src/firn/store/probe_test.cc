#include "firn/store/probe.h"

#include <gtest/gtest.h>

#include "firn/store/memory/memory_store.h"

namespace firn::store {
namespace {

TEST(ProbeWritable, LeavesNothingBehind) {
  MemoryStore store;
  EXPECT_TRUE(ProbeWritable(store, "memory://w", "1").ok());
  EXPECT_TRUE(ProbeWritable(store, "memory://w/", "1").ok());
  EXPECT_TRUE(store.Locations().empty());
}

TEST(ProbeWritable, TellsWhichRightIsMissing) {
  MemoryStore store;
  store.FailNext(StoreOp::kCreate, "probe", Error(ErrorKind::kPermissionDenied, "read-only"));
  Status probed = ProbeWritable(store, "memory://w", "1");
  ASSERT_FALSE(probed.ok());
  EXPECT_EQ(probed.error().kind(), ErrorKind::kPermissionDenied);
  EXPECT_NE(probed.error().ToString().find("memory://w"), std::string::npos);
  store.FailNext(StoreOp::kDelete, "probe", Error(ErrorKind::kPermissionDenied, "no"));
  probed = ProbeWritable(store, "memory://w", "2");
  ASSERT_FALSE(probed.ok());
  EXPECT_NE(probed.error().ToString().find("not delete"), std::string::npos);
}

}  // namespace
}  // namespace firn::store
