#include "firn/source/files/files_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include <fmt/format.h>

#include "firn/runtime/manual_clock.h"
#include "firn/source/files/file_lister.h"
#include "firn/source/files/file_set.h"
#include "firn/store/memory/memory_store.h"

namespace firn::source::files {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kStartMs = 1'700'000'000'000;

/// One line, one record; a byte 0 is damage.
class LineReader : public record::FileReader {
 public:
  LineReader(std::string location, std::string text, const record::FilePosition& start)
      : text_(std::move(text)), at_(start), origin_{std::move(location), {}} {}
  Result<bool> Read(size_t max_records, size_t /*max_bytes*/, record::RawBatch* batch) override {
    for (size_t i = 0; i < max_records; ++i) {
      const auto begin = static_cast<size_t>(at_.byte);
      const size_t end = text_.find('\n', begin);
      if (end == std::string::npos) return false;
      if (text_[begin] == '\0') return Error(ErrorKind::kCorrupt, "damage in " + origin_.location);
      batch->values.push_back(
          {batch->arena.Append(text_.substr(begin, end - begin)), static_cast<uint32_t>(end - begin)});
      batch->lines.push_back(++at_.line);
      ++at_.record;
      at_.byte = static_cast<int64_t>(end + 1);
    }
    return true;
  }
  record::FilePosition position() const override { return at_; }
  const record::FileOrigin& origin() const override { return origin_; }

 private:
  std::string text_;
  record::FilePosition at_;
  record::FileOrigin origin_;
};

class LineFormat : public record::FileFormat {
 public:
  bool random_access() const override { return false; }
  Result<std::unique_ptr<record::FileReader>> Open(std::string location,
                                                   std::shared_ptr<store::RandomAccessObject> /*object*/,
                                                   std::unique_ptr<record::ByteStream> stream,
                                                   const record::FilePosition& start) override {
    std::string text(1 << 20, '\0');
    size_t size = 0;
    for (;;) {
      FIRN_ASSIGN(const size_t read, stream->Read(text.data() + size, text.size() - size));
      if (read == 0) break;
      size += read;
    }
    text.resize(size);
    return std::unique_ptr<record::FileReader>(std::make_unique<LineReader>(location, text, start));
  }
};

class FilesSourceTest : public ::testing::Test {
 protected:
  FilesSourceTest() {
    config_.path = "memory://lake/landing";
    config_.min_age_ms = 0;
    config_.poll_interval_ms = 50;
    store_->SetNowMs(kStartMs);
  }

  void Write(const std::string& path, int records, int64_t modified_ms = 0) {
    std::string text;
    for (int i = 0; i < records; ++i) text += fmt::format("{}#{}\n", path, i);
    WriteText(path, text, modified_ms);
    for (int i = 0; i < records; ++i) expected_.insert(fmt::format("{}#{}", path, i));
  }
  void WriteText(const std::string& path, const std::string& text, int64_t modified_ms = 0) {
    store_->SetNowMs(modified_ms == 0 ? ++now_ms_ : modified_ms);
    ASSERT_TRUE(store_->WriteAll("memory://lake/landing/" + path, text, store::IfExists::kReplace).ok());
  }

  /// What a run took, and where it stands: as the table would.
  struct Taken {
    record::Positions positions;
    std::multiset<std::string> records;
    std::optional<Error> error;
    int64_t polls = 0;
    std::map<int32_t, std::vector<std::string>> files;  ///< by partition, as their records came
  };

  std::unique_ptr<Source> Make(bool bounded) {
    FilesDeps deps;
    deps.lanes = 2;
    deps.format = std::make_shared<LineFormat>();
    deps.stores = std::make_shared<store::SingleStoreResolver>(store_);
    deps.clock = &runtime::SystemClock();
    auto source = MakeFilesSource(config_, deps);
    EXPECT_TRUE(source.ok()) << source.error().ToString();
    EXPECT_TRUE((*source)->Open().ok());
    EXPECT_TRUE((*source)->Subscribe(bounded).ok());
    return *std::move(source);
  }

  /// Runs until the end, an error, `max_batches`, or (`until`) so many records. `cut`: of the last batch only
  /// the first record is taken, as when a schema change cuts it.
  void Run(Taken& taken, size_t max_batches = SIZE_MAX, bool cut = false, size_t max_records = 3) {
    auto source = Make(/*bounded=*/true);
    if (taken.positions.empty()) {
      auto all = source->ListPartitions();
      std::vector<record::SourcePartition> partitions;
      for (const auto& [partition, bound] : *all) partitions.push_back(partition);
      taken.positions = *source->ResolveStart(partitions);
    }
    ASSERT_TRUE(source->Start(taken.positions).ok());
    std::map<record::SourcePartition, int64_t> ends;
    size_t batches = 0;
    while (batches < max_batches && !taken.error) {
      auto events = source->PollControl(0);
      for (const SourceEvent& event : *events) {
        if (const auto* ended = std::get_if<PartitionEnded>(&event)) ends[ended->partition] = ended->end;
        if (const auto* trouble = std::get_if<SourceTrouble>(&event);
            trouble != nullptr && trouble->error.retry() == RetryHint::kNo)
          taken.error = trouble->error;
      }
      if (ends.size() == kPartitions && std::ranges::all_of(ends, [&](const auto& end) {
            return taken.positions.at(end.first).next == end.second;
          }))
        break;
      for (int lane = 0; lane < 2 && batches < max_batches; ++lane) {
        PollBudget budget;
        budget.timeout_ms = 1;
        budget.max_records = max_records;
        auto polled = source->Poll(lane, budget);
        ASSERT_TRUE(polled.ok());
        for (size_t i = 0; i < polled->size() && batches < max_batches; ++i, ++batches)
          Take(taken, (*polled)[i], cut && batches + 1 == max_batches);
      }
    }
    source->Close();
  }

  static void Take(Taken& taken, const record::RawBatch& raw, bool cut) {
    record::PartitionPosition& position = taken.positions.at(raw.partition);
    ASSERT_EQ(position.next, raw.range.from) << "ranges join";
    ASSERT_EQ(raw.range.to - raw.range.from, static_cast<int64_t>(raw.size()));
    if (raw.size() > 0) taken.files[raw.partition.partition].push_back(raw.file->location);
    const size_t records = cut ? std::min<size_t>(1, raw.size()) : raw.size();
    for (size_t i = 0; i < records; ++i) {
      taken.records.emplace(raw.value(i));
      EXPECT_EQ(raw.offsets[i], raw.range.from + static_cast<int64_t>(i));
      EXPECT_EQ(fmt::format("{}#{}", raw.file->location.substr(22), raw.lines[i] - 1), raw.value(i));
    }
    position.next = raw.range.from + static_cast<int64_t>(records);
    if (records == raw.size() && raw.range.cursor) position.cursor = raw.range.cursor;
  }

  FilesConfig config_;
  int64_t now_ms_ = kStartMs;
  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
  std::multiset<std::string> expected_;
};

TEST_F(FilesSourceTest, EveryRecordOfEveryFileOnceAndNothingAgain) {
  for (int i = 0; i < 40; ++i) Write(fmt::format("d{}/f{}", i % 3, i), i % 5);
  Write("big", 1000);
  Taken taken;
  Run(taken);
  EXPECT_FALSE(taken.error) << taken.error->ToString();
  EXPECT_EQ(taken.records, expected_);
  Run(taken);
  EXPECT_EQ(taken.records, expected_) << "a second run finds nothing new";
  Write("later", 7);
  Run(taken);
  EXPECT_EQ(taken.records, expected_);
}

TEST_F(FilesSourceTest, FilesOfAPartitionComeInTheirOrderAlthoughTheyAreFetchedAhead) {
  std::map<std::string, int> order;
  for (int i = 0; i < 200; ++i) {
    Write(fmt::format("f{}", i), 1 + i % 3);
    order[fmt::format("memory://lake/landing/f{}", i)] = i;
  }
  std::atomic<int> open = 0;
  std::atomic<int> most_open = 0;
  store_->SetHook([&](store::StoreOp op, store::FaultTime, const std::string& location) {
    if (op != store::StoreOp::kOpen) return Ok();
    most_open = std::max<int>(most_open, ++open);
    // Unevenly slow, so that they end in another order than they began in.
    runtime::SystemClock().SleepMs(static_cast<int64_t>(HashOfPath(location) % 5));
    --open;
    return Ok();
  });
  Taken taken;
  Run(taken, SIZE_MAX, false, 1000);
  EXPECT_FALSE(taken.error);
  EXPECT_EQ(taken.records, expected_);
  EXPECT_GT(most_open, 2) << "two lanes alone would open two";
  EXPECT_EQ(store_->Count(store::StoreOp::kOpen), 200) << "each once";
  for (const auto& [partition, files] : taken.files)
    EXPECT_TRUE(std::ranges::is_sorted(files, {}, [&](const auto& file) { return order.at(file); }));
}

TEST_F(FilesSourceTest, ARestartAtAnyBatchLosesAndDoublesNothing) {
  for (int i = 0; i < 20; ++i) Write(fmt::format("f{}", i), i % 7);
  for (const bool cut : {false, true}) {
    Taken taken;
    for (size_t batches = 1; batches < 40; ++batches) {
      Run(taken, 1 + batches % 4, cut);
      ASSERT_FALSE(taken.error) << taken.error->ToString();
      // Files that come in between, also before those that wait, change nothing of what was begun.
      if (batches % 10 == 0) Write(fmt::format("older{}-{}", cut, batches), 5, kStartMs - kHourMs);
    }
    Run(taken);
    EXPECT_FALSE(taken.error) << taken.error->ToString();
    EXPECT_EQ(taken.records, expected_);
  }
}

TEST_F(FilesSourceTest, HiddenEmptyAndTemporaryFilesAreNoFiles) {
  WriteText("_SUCCESS", "x\n");
  WriteText("a.tmp", "x\n");
  WriteText("empty", "");
  Write("a", 2);
  Taken taken;
  Run(taken);
  EXPECT_EQ(taken.records, expected_);
}

TEST_F(FilesSourceTest, AFileOverwrittenAfterItWasTakenFollowsThePolicy) {
  Write("a", 5);
  Write("b", 5);
  Taken first;
  Run(first);
  WriteText("a", "a#0\na#1\n");
  Taken failing = first;
  Run(failing);
  ASSERT_TRUE(failing.error);
  EXPECT_EQ(failing.error->kind(), ErrorKind::kDataLoss);
  EXPECT_THAT(failing.error->ToString(), HasSubstr("memory://lake/landing/a"));
  config_.on_changed_file = FilePolicy::kSkip;
  Taken skipping = first;
  Run(skipping);
  EXPECT_FALSE(skipping.error);
  EXPECT_EQ(skipping.records, expected_);
  config_.on_changed_file = FilePolicy::kTake;
  Taken taking = first;
  Run(taking);
  EXPECT_FALSE(taking.error);
  EXPECT_EQ(taking.records.size(), expected_.size() + 2);
}

TEST_F(FilesSourceTest, AFileOverwrittenOrGoneWhileItIsReadStopsTheRun) {
  Write("a", 100);
  Taken begun;
  Run(begun, 5);
  ASSERT_GT(begun.records.size(), 0u);
  ASSERT_LT(begun.records.size(), 100u);
  WriteText("a", "other\n");
  Taken taken = begun;
  Run(taken);
  ASSERT_TRUE(taken.error);
  EXPECT_EQ(taken.error->kind(), ErrorKind::kDataLoss);
  EXPECT_THAT(taken.error->ToString(), HasSubstr("overwritten while it was read"));
  EXPECT_EQ(taken.records, begun.records) << "nothing of the new version";
  ASSERT_TRUE(store_->Delete("memory://lake/landing/a").ok());
  taken = begun;
  Run(taken);
  ASSERT_TRUE(taken.error);
  EXPECT_EQ(taken.error->kind(), ErrorKind::kDataLoss);
  EXPECT_THAT(taken.error->ToString(), HasSubstr("vanished"));
  config_.on_changed_file = FilePolicy::kSkip;
  taken = begun;
  Run(taken);
  EXPECT_FALSE(taken.error);
  EXPECT_EQ(taken.records, begun.records);
}

TEST_F(FilesSourceTest, AFileThatVanishesBeforeItIsBegunIsPassedOver) {
  Write("b", 3);
  WriteText("a", "a#0\n");
  Taken taken;
  store_->SetHook([this](store::StoreOp op, store::FaultTime time, const std::string& location) {
    if (op == store::StoreOp::kOpen && time == store::FaultTime::kBefore && location.ends_with("/a"))
      Ignore(store_->Delete(location));
    return Ok();
  });
  Run(taken);
  EXPECT_FALSE(taken.error);
  EXPECT_EQ(taken.records, expected_);
}

TEST_F(FilesSourceTest, TroubleOfTheStoreIsTriedAgain) {
  for (int i = 0; i < 5; ++i) Write(fmt::format("f{}", i), 10);
  store_->FailNext(store::StoreOp::kOpen, "f3",
                   Error(ErrorKind::kUnavailable, "busy").WithRetry(RetryHint::kYes));
  store_->FailNext(store::StoreOp::kHead, "f1",
                   Error(ErrorKind::kTimeout, "slow").WithRetry(RetryHint::kYes));
  store_->FailNext(store::StoreOp::kList, "landing",
                   Error(ErrorKind::kUnavailable, "busy").WithRetry(RetryHint::kYes));
  Taken taken;
  Run(taken);
  EXPECT_FALSE(taken.error) << taken.error->ToString();
  EXPECT_EQ(taken.records, expected_);
}

TEST_F(FilesSourceTest, DamageStopsABoundedRunBehindWhatCouldBeRead) {
  WriteText("a", std::string("a#0\na#1\na#2\n\0\n", 14));
  Taken taken;
  Run(taken, SIZE_MAX, false, 3);
  ASSERT_TRUE(taken.error);
  EXPECT_EQ(taken.error->kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(taken.error->ToString(), HasSubstr("memory://lake/landing/a"));
}

TEST_F(FilesSourceTest, ALateFileFollowsThePolicy) {
  config_.lookback_ms = kHourMs;
  Write("a", 2, kStartMs);
  Write("b", 2, kStartMs + 10 * kHourMs);
  now_ms_ = kStartMs + 10 * kHourMs;
  Taken first;
  Run(first);
  // A watermark of its own in each partition: a file that is late in the one that holds b.
  std::string late;
  for (int i = 0; late.empty(); ++i) {
    const std::string name = fmt::format("late{}", i);
    if (HashOfPath(name) % kPartitions == HashOfPath("b") % kPartitions) late = name;
  }
  WriteText(late, late + "#0\n", kStartMs + kHourMs);
  Taken taken = first;
  Run(taken);
  ASSERT_TRUE(taken.error);
  EXPECT_EQ(taken.error->kind(), ErrorKind::kDataLoss);
  EXPECT_THAT(taken.error->ToString(), HasSubstr(late));
  config_.on_late_file = FilePolicy::kSkip;
  taken = first;
  Run(taken);
  EXPECT_FALSE(taken.error);
  EXPECT_EQ(taken.records, expected_);
  config_.on_late_file = FilePolicy::kTake;
  taken = first;
  Run(taken);
  EXPECT_FALSE(taken.error);
  EXPECT_TRUE(taken.records.contains(late + "#0"));
  const size_t records = taken.records.size();
  Run(taken);
  EXPECT_EQ(taken.records.size(), records) << "taken once";
}

TEST_F(FilesSourceTest, PositionsWithoutTheirFilesAreRefused) {
  auto source = Make(true);
  record::Positions positions;
  positions[{kTopic, 0}] = {7, {}, std::nullopt, std::nullopt};
  auto started = source->Start(positions);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().kind(), ErrorKind::kDataLoss);
}

/// Lists more names than a listing keeps, and holds no more than it hands out.
class ManyNames : public store::Store {
 public:
  static constexpr int kNames = 200'000;

  Result<std::unique_ptr<store::ObjectWriter>> Create(const std::string& /*location*/,
                                                      store::WriteCondition /*condition*/) override {
    return Error(ErrorKind::kUnsupported, "");
  }
  Result<std::unique_ptr<store::RandomAccessObject>> Open(const std::string& /*location*/) override {
    return Error(ErrorKind::kNotFound, "");
  }
  Result<store::ObjectInfo> Head(const std::string& /*location*/) override {
    return Error(ErrorKind::kNotFound, "");
  }
  Status Delete(const std::string& /*location*/) override { return Ok(); }
  Status List(const std::string& prefix,
              const std::function<bool(const store::ObjectInfo&)>& visit) override {
    for (int i = 0; i < kNames; ++i) {
      if (!visit({fmt::format("{}{}/file-{}.json.gz", prefix, i % 100, i), 100, kStartMs + i / 4, "v"}))
        break;
    }
    return Ok();
  }
};

TEST_F(FilesSourceTest, AnyNumberOfFilesIsTakenInBoundedSteps) {
  auto pattern = PathPattern::Parse(config_.path, false);
  FileSet set(config_, *pattern, std::make_shared<ManyNames>(), runtime::SystemClock());
  set.bounded = true;
  for (int32_t i = 0; i < kPartitions; ++i) {
    set.partition(i).started = true;
    set.partition(i).taken = TakenFiles(set.limits());
  }
  FileLister lister(set, int64_t{8} << 20);
  const std::stop_source stop;
  int64_t taken = 0;
  int64_t previous_ms = 0;
  int listings = 0;
  for (; !lister.finished(); ++listings) {
    ASSERT_TRUE(lister.ListOnce(stop.get_token()).ok());
    EXPECT_EQ(set.waiting_files, ManyNames::kNames - taken);
    size_t held = 0;
    for (int32_t i = 0; i < kPartitions; ++i) {
      FilePartition& partition = set.partition(i);
      held += partition.queue.size();
      for (const FileId& file : partition.queue) {
        ASSERT_NE(partition.taken.Look(file), TakenFiles::Sight::kTaken);
        partition.taken.Take(file, kStartMs + kHourMs);
        previous_ms = std::max(previous_ms, file.modified_ms);
        ++taken;
      }
      ASSERT_LE(partition.taken.size(), set.limits().max_entries);
    }
    ASSERT_LT(held, 90'000u);
    ASSERT_LT(listings, 10);
  }
  EXPECT_EQ(taken, ManyNames::kNames);
  EXPECT_GT(listings, 1);
}

TEST_F(FilesSourceTest, AFileThatStillChangesWaits) {
  config_.min_age_ms = 5'000;
  auto pattern = PathPattern::Parse(config_.path, false);
  runtime::ManualClock clock(kStartMs);
  FileSet set(config_, *pattern, store_, clock);
  for (int32_t i = 0; i < kPartitions; ++i) set.partition(i).started = true;
  FileLister lister(set);
  const std::stop_source stop;
  const auto queued = [&] {
    EXPECT_TRUE(lister.ListOnce(stop.get_token()).ok());
    size_t count = 0;
    for (int32_t i = 0; i < kPartitions; ++i) count += set.partition(i).queue.size();
    return count;
  };
  WriteText("a", "a#0\n", kStartMs - 1'000);
  WriteText("future", "f#0\n", kStartMs + kHourMs);
  EXPECT_EQ(queued(), 0u);
  clock.Advance(3'000);
  WriteText("future", "f#0\nf#1\n", kStartMs + kHourMs);
  EXPECT_EQ(queued(), 0u);
  clock.Advance(2'500);
  EXPECT_EQ(queued(), 1u) << "a is old enough, the other one changed a moment ago";
  clock.Advance(5'000);
  EXPECT_EQ(queued(), 2u) << "a time in the future tells nothing; it has stood still for long enough";
}

}  // namespace
}  // namespace firn::source::files
