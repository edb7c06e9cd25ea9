#include "firn/store/memory/memory_store.h"

#include <gtest/gtest.h>

namespace firn::store {
namespace {

TEST(MemoryStore, ShowsAnObjectOnlyAfterFinish) {
  MemoryStore store;
  auto writer = store.Create("memory://a/b", IfExists::kFail);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Write("hello").ok());
  EXPECT_EQ(store.Open("memory://a/b").error().kind(), ErrorKind::kNotFound);
  ASSERT_TRUE((*writer)->Finish().ok());
  EXPECT_EQ(store.ReadAll("memory://a/b").value(), "hello");
}

TEST(MemoryStore, CreationIsExclusiveUnlessReplacing) {
  MemoryStore store;
  ASSERT_TRUE(store.WriteAll("memory://k", "1", IfExists::kFail).ok());
  EXPECT_EQ(store.WriteAll("memory://k", "2", IfExists::kFail).error().kind(), ErrorKind::kAlreadyExists);
  ASSERT_TRUE(store.WriteAll("memory://k", "3", IfExists::kReplace).ok());
  EXPECT_EQ(store.ReadAll("memory://k").value(), "3");
}

TEST(MemoryStore, ReplacesOnlyTheVersionThatIsThere) {
  MemoryStore store;
  const auto replace = [&store](const std::string& text, const std::string& version) {
    return store.WriteAll("memory://k", text, WriteCondition::IfVersion(version));
  };
  EXPECT_EQ(replace("0", "1").error().kind(), ErrorKind::kConflict);
  ASSERT_TRUE(store.WriteAll("memory://k", "1", IfExists::kFail).ok());
  const std::string first = store.Head("memory://k")->version;
  ASSERT_TRUE(replace("2", first).ok());
  EXPECT_EQ(replace("3", first).error().kind(), ErrorKind::kConflict);
  EXPECT_EQ(store.ReadAll("memory://k").value(), "2");
}

TEST(MemoryStore, ListsByPrefixAndStopsWhenTold) {
  MemoryStore store;
  for (const char* key : {"m://a/1", "m://a/2", "m://b/1"})
    ASSERT_TRUE(store.WriteAll(key, "x", IfExists::kFail).ok());
  int seen = 0;
  ASSERT_TRUE(store.List("m://a/", [&](const ObjectInfo&) { return ++seen > 0; }).ok());
  EXPECT_EQ(seen, 2);
  seen = 0;
  ASSERT_TRUE(store.List("m://", [&](const ObjectInfo&) { return ++seen < 1; }).ok());
  EXPECT_EQ(seen, 1);
}

TEST(MemoryStore, InjectedLostAnswerLeavesTheObject) {
  MemoryStore store;
  store.FailNext(StoreOp::kFinish, "m://a", Error(ErrorKind::kTimeout, "no answer"), FaultTime::kAfter);
  EXPECT_EQ(store.WriteAll("m://a", "x", IfExists::kFail).error().kind(), ErrorKind::kTimeout);
  EXPECT_EQ(store.ReadAll("m://a").value(), "x");
}

TEST(MemoryStore, HookSeesRequestsAndCanRefuse) {
  MemoryStore store;
  store.SetHook([](StoreOp op, FaultTime, const std::string& location) -> Status {
    if (op == StoreOp::kCreate && location.ends_with("forbidden"))
      return Error(ErrorKind::kPermissionDenied, "no");
    return Ok();
  });
  EXPECT_EQ(store.WriteAll("m://forbidden", "x", IfExists::kFail).error().kind(),
            ErrorKind::kPermissionDenied);
  EXPECT_TRUE(store.WriteAll("m://fine", "x", IfExists::kFail).ok());
  EXPECT_EQ(store.Count(StoreOp::kCreate), 2);
}

}  // namespace
}  // namespace firn::store
