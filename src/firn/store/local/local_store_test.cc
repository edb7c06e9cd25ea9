#include "firn/store/local/local_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "firn/store/local/local_path.h"

namespace firn::store {
namespace {

namespace fs = std::filesystem;

class LocalStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "firn-local-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<std::string> FilesBelow() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), folder_).string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string folder_;
  LocalStore store_;
};

TEST(LocalPath, UnderstandsEveryFormAndDecodesNothing) {
  for (const char* location :
       {"file:///a/d=1%2F2", "file:/a/d=1%2F2", "file://localhost/a/d=1%2F2", "/a/d=1%2F2"}) {
    auto parsed = ParseLocalLocation(location);
    ASSERT_TRUE(parsed.ok()) << location;
    EXPECT_EQ(parsed->path, "/a/d=1%2F2");
    EXPECT_EQ(parsed->scheme + parsed->path, location);
    EXPECT_EQ(ToFileUri(location), "file:///a/d=1%2F2");
  }
}

TEST(LocalPath, RefusesRelativeAndForeignLocations) {
  for (const char* location : {"a/b", "s3://bucket/key", "file://host/share", "", "file:a"}) {
    EXPECT_EQ(ParseLocalLocation(location).error().kind(), ErrorKind::kInvalidArgument) << location;
  }
}

TEST_F(LocalStoreTest, CreatesFoldersAndShowsTheFileOnlyAfterFinish) {
  std::string location = "file://" + folder_ + "/x/y/z.bin";
  auto writer = store_.Create(location, IfExists::kFail);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Write("one").ok());
  ASSERT_TRUE((*writer)->Write(std::string(1 << 20, 'b')).ok());
  EXPECT_EQ(store_.Open(location).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ((*writer)->bytes_written(), (1 << 20) + 3);
  ASSERT_TRUE((*writer)->Finish().ok());
  EXPECT_EQ(store_.ReadAll(location).value(), "one" + std::string(1 << 20, 'b'));
  EXPECT_EQ(FilesBelow(), std::vector<std::string>{"x/y/z.bin"});
}

TEST_F(LocalStoreTest, SaysThatItCannotReplaceAVersion) {
  EXPECT_EQ(store_.Create(folder_ + "/a", WriteCondition::IfVersion("1")).error().kind(),
            ErrorKind::kUnsupported);
}

TEST_F(LocalStoreTest, DiscardedAndDroppedWritersLeaveNothing) {
  std::string location = folder_ + "/a";
  {
    auto dropped = store_.Create(location, IfExists::kFail);
    ASSERT_TRUE((*dropped)->Write("x").ok());
  }
  auto discarded = store_.Create(location, IfExists::kFail);
  (*discarded)->Discard();
  EXPECT_TRUE(FilesBelow().empty());
}

TEST_F(LocalStoreTest, OneOfManyConcurrentCreatorsWins) {
  std::string location = folder_ + "/contended";
  std::atomic<int> winners{0};
  std::atomic<int> losers{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      auto status = store_.WriteAll(location, std::to_string(i), IfExists::kFail);
      if (status.ok()) {
        ++winners;
      } else if (status.error().kind() == ErrorKind::kAlreadyExists) {
        ++losers;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(losers, 7);
  EXPECT_EQ(FilesBelow().size(), 1U);
}

TEST_F(LocalStoreTest, ReplaceIsAtomicForReaders) {
  std::string location = folder_ + "/f";
  ASSERT_TRUE(store_.WriteAll(location, "old", IfExists::kFail).ok());
  auto open = store_.Open(location);
  ASSERT_TRUE(store_.WriteAll(location, "newer", IfExists::kReplace).ok());
  std::string seen(3, ' ');
  EXPECT_EQ((*open)->ReadAt(0, 3, seen.data()).value(), 3);
  EXPECT_EQ(seen, "old");
  EXPECT_EQ(store_.ReadAll(location).value(), "newer");
}

TEST_F(LocalStoreTest, ReadsShortOnlyAtTheEnd) {
  std::string location = folder_ + "/f";
  ASSERT_TRUE(store_.WriteAll(location, "0123456789", IfExists::kFail).ok());
  auto object = store_.Open(location);
  std::string out(8, ' ');
  EXPECT_EQ((*object)->ReadAt(6, 8, out.data()).value(), 4);
  EXPECT_EQ(out.substr(0, 4), "6789");
  EXPECT_EQ((*object)->ReadAt(10, 8, out.data()).value(), 0);
  EXPECT_FALSE((*object)->ReadAt(-1, 8, out.data()).ok());
}

TEST_F(LocalStoreTest, ListsByPrefixInTheFormOfTheQuestion) {
  for (const char* name : {"/t/data/a=1/f", "/t/data/g", "/t/datum", "/other"}) {
    ASSERT_TRUE(store_.WriteAll(folder_ + name, "x", IfExists::kFail).ok());
  }
  std::vector<std::string> seen;
  auto collect = [&](const ObjectInfo& info) {
    seen.push_back(info.location);
    return true;
  };
  ASSERT_TRUE(store_.List("file://" + folder_ + "/t/data/", collect).ok());
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<std::string>{"file://" + folder_ + "/t/data/a=1/f",
                                            "file://" + folder_ + "/t/data/g"}));
  seen.clear();
  ASSERT_TRUE(store_.List(folder_ + "/t/dat", collect).ok());
  EXPECT_EQ(seen.size(), 3U);
  seen.clear();
  ASSERT_TRUE(store_.List(folder_ + "/nowhere/", collect).ok());
  EXPECT_TRUE(seen.empty());
}

TEST_F(LocalStoreTest, HeadVersionChangesWithTheBytes) {
  std::string location = folder_ + "/f";
  ASSERT_TRUE(store_.WriteAll(location, "1", IfExists::kFail).ok());
  auto before = store_.Head(location).value();
  ASSERT_TRUE(store_.WriteAll(location, "2", IfExists::kReplace).ok());
  EXPECT_NE(store_.Head(location).value().version, before.version);
  EXPECT_EQ(before.size_bytes, 1);
  EXPECT_GT(before.modified_ms, 1'500'000'000'000);
}

TEST_F(LocalStoreTest, DeletingWhatIsNotThereIsOk) {
  EXPECT_TRUE(store_.Delete(folder_ + "/nothing").ok());
  EXPECT_TRUE(store_.Delete(folder_ + "/no/folder").ok());
  EXPECT_EQ(store_.Head(folder_ + "/nothing").error().kind(), ErrorKind::kNotFound);
}

TEST_F(LocalStoreTest, FullDiskIsResourceExhaustedAndNamesThePath) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  // A writer whose temporary file is the full device: what write(2) says there is what a full disk says.
  auto writer = store_.Create(folder_ + "/f", IfExists::kFail);
  ASSERT_TRUE(writer.ok());
  for (const auto& entry : fs::directory_iterator(folder_)) {
    int full = ::open("/dev/full", O_WRONLY);
    struct stat wanted{};
    ASSERT_EQ(::stat(entry.path().c_str(), &wanted), 0);
    for (int fd = 3; fd < 256; ++fd) {
      struct stat info{};
      if (fd != full && ::fstat(fd, &info) == 0 && info.st_ino == wanted.st_ino &&
          info.st_dev == wanted.st_dev)
        ::dup2(full, fd);
    }
    ::close(full);
  }
  Status status = (*writer)->Write(std::string(1 << 20, 'x'));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind(), ErrorKind::kResourceExhausted);
  EXPECT_NE(status.error().ToString().find(folder_ + "/f"), std::string::npos);
  EXPECT_NE(status.error().remedy().find("Free space"), std::string::npos);
}

TEST_F(LocalStoreTest, UnwritableFolderIsPermissionDenied) {
  // Root may write everywhere, so the attempt is made as another user; the folder belongs to the one who runs
  // the test.
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  bool root = ::geteuid() == 0;
  ASSERT_EQ(root ? ::seteuid(65534) : 0, 0);
  auto status = store_.WriteAll(folder_ + "/x/f", "x", IfExists::kFail);
  ASSERT_EQ(root ? ::seteuid(0) : 0, 0);
  ::chmod(folder_.c_str(), 0700);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind(), ErrorKind::kPermissionDenied);
  EXPECT_FALSE(status.error().remedy().empty());
}

TEST_F(LocalStoreTest, AFileInTheWayOfAFolderIsNamed) {
  ASSERT_TRUE(store_.WriteAll(folder_ + "/f", "x", IfExists::kFail).ok());
  auto status = store_.WriteAll(folder_ + "/f/g", "x", IfExists::kFail);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind(), ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace firn::store
