#include "firn/source/files/files_ahead.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "firn/store/memory/memory_store.h"

namespace firn::source::files {
namespace {

class FilesAheadTest : public ::testing::Test {
 protected:
  FilesAhead::Next Put(const std::string& name, size_t bytes) {
    const std::string location = "memory://b/" + name;
    EXPECT_TRUE(store_->WriteAll(location, std::string(bytes, 'x'), store::IfExists::kReplace).ok());
    const store::ObjectInfo info = store_->Head(location).value();
    return {{name, info.size_bytes, info.modified_ms, info.version}, location};
  }
  std::vector<FilesAhead::Next> PutMany(int count, size_t bytes) {
    std::vector<FilesAhead::Next> files;
    for (int i = 0; i < count; ++i) files.push_back(Put(fmt::format("f{}", i), bytes));
    return files;
  }
  int64_t Opened() const { return store_->Count(store::StoreOp::kOpen); }

  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
  std::atomic<int64_t> held_bytes_ = 0;
  runtime::Executor executor_{"ahead", 4};
  FilesAhead ahead_{
      store_, executor_, {.max_files = 4, .max_bytes = 1000, .max_file_bytes = 400}, held_bytes_};
};

TEST_F(FilesAheadTest, FilesAreFetchedSideBySideAndTakenInAnyOrder) {
  std::mutex mutex;
  std::condition_variable changed;
  int open = 0;
  store_->SetHook([&](store::StoreOp op, store::FaultTime, const std::string&) {
    if (op != store::StoreOp::kOpen) return Ok();
    std::unique_lock lock(mutex);
    ++open;
    changed.notify_all();
    // All four are on their way at once, or this never ends.
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(60), [&] { return open >= 4; }));
    return Ok();
  });
  const auto files = PutMany(4, 10);
  ahead_.Expect(files);
  for (const size_t i : {2, 0, 1, 3}) {
    const auto fetched = ahead_.Take(files[i].file);
    ASSERT_TRUE(fetched);
    EXPECT_EQ(fetched->object->size_bytes(), 10);
    EXPECT_EQ(fetched->after.version, files[i].file.version);
  }
  EXPECT_EQ(Opened(), 4);
  EXPECT_EQ(held_bytes_, 0);
}

TEST_F(FilesAheadTest, NoMoreFilesAndBytesThanTheLimitsAllow) {
  ahead_.Expect(PutMany(10, 10));
  EXPECT_EQ(held_bytes_, 40) << "four files";
  const auto large = PutMany(10, 300);
  ahead_.Expect(large);
  EXPECT_EQ(held_bytes_, 900) << "1000 bytes, and the others were dropped";
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ahead_.Take(large[static_cast<size_t>(i)].file));
  EXPECT_FALSE(ahead_.Take(large[3].file)) << "not fetched";
  ahead_.Expect(std::vector{Put("huge", 401), Put("small", 1)});
  EXPECT_EQ(held_bytes_, 1) << "a large file is read when its turn comes";
}

TEST_F(FilesAheadTest, AFileIsFetchedOnceHoweverOftenItIsExpected) {
  const auto files = PutMany(3, 10);
  for (int i = 0; i < 5; ++i) ahead_.Expect(files);
  for (const auto& file : files) EXPECT_TRUE(ahead_.Take(file.file));
  EXPECT_EQ(Opened(), 3);
}

TEST_F(FilesAheadTest, WhatCannotBeFetchedAndWhatIsAnotherVersionIsLeftToTheReader) {
  const auto gone = Put("gone", 10);
  ASSERT_TRUE(store_->Delete(gone.location).ok());
  FilesAhead::Next other = Put("other", 10);
  const auto grown = Put("grown", 10);
  Put("grown", 5'000'000);
  ahead_.Expect(std::vector{gone, other, grown});
  EXPECT_FALSE(ahead_.Take(grown.file)) << "no memory was set aside for that much";
  EXPECT_FALSE(ahead_.Take(gone.file));
  other.file.version = "newer";
  EXPECT_FALSE(ahead_.Take(other.file));
}

TEST_F(FilesAheadTest, ClearGivesEverythingUp) {
  ahead_.Expect(PutMany(4, 10));
  ahead_.Clear();
  EXPECT_EQ(held_bytes_, 0);
}

}  // namespace
}  // namespace firn::source::files
