#include "firn/store/attempt_files.h"

#include <gtest/gtest.h>

#include "firn/store/memory/memory_store.h"

namespace firn::store {
namespace {

class AttemptFilesTest : public ::testing::Test {
 protected:
  void Write(const std::string& location) {
    ASSERT_TRUE(store_->WriteAll(location, "x", IfExists::kFail).ok());
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  AttemptFiles files_{store_};
};

TEST_F(AttemptFilesTest, DeletesWhatWasRecordedAfterARejection) {
  Write("memory://t/ours");
  Write("memory://t/theirs");
  files_.Record("memory://t/ours");
  files_.Record("memory://t/never-created");
  EXPECT_TRUE(files_.Delete(DefinitelyRejected::ByCatalog()).empty());
  EXPECT_EQ(store_->Locations(), std::vector<std::string>{"memory://t/theirs"});
  EXPECT_EQ(files_.size(), 0U);
}

TEST_F(AttemptFilesTest, DestructorAndUnknownOutcomeDeleteNothing) {
  Write("memory://t/a");
  {
    AttemptFiles dropped(store_);
    dropped.Record("memory://t/a");
  }
  files_.Record("memory://t/a");
  files_.LeaveToAgedScan();
  EXPECT_TRUE(files_.Delete(DefinitelyRejected::NeverSubmitted()).empty());
  EXPECT_EQ(store_->Locations().size(), 1U);
}

TEST_F(AttemptFilesTest, CommitDeletesOnlyUnusedFilesOfThisAttempt) {
  for (const char* location : {"memory://t/list-1", "memory://t/list-2", "memory://t/foreign"})
    Write(location);
  files_.Record("memory://t/list-1");
  files_.Record("memory://t/list-2");
  EXPECT_TRUE(files_.Committed({"memory://t/list-1", "memory://t/foreign"}).empty());
  EXPECT_EQ(store_->Locations(), (std::vector<std::string>{"memory://t/foreign", "memory://t/list-2"}));
}

TEST_F(AttemptFilesTest, NamesWhatCouldNotBeDeleted) {
  Write("memory://t/a");
  files_.Record("memory://t/a");
  store_->FailNext(StoreOp::kDelete, "t/a", Error(ErrorKind::kUnavailable, "store is away"));
  EXPECT_EQ(files_.Delete(DefinitelyRejected::ByCompleteWalk()), std::vector<std::string>{"memory://t/a"});
}

}  // namespace
}  // namespace firn::store
