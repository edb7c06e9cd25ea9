#include "firn/decode/schema_registry/schema_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "firn/runtime/manual_clock.h"
#include "firn/runtime/seeded_ids.h"

namespace firn::decode {
namespace {

class FakeFetcher final : public SchemaFetcher {
 public:
  using Answer = std::function<Result<RegisteredSchema>(int32_t id)>;
  explicit FakeFetcher(Answer answer) : answer_(std::move(answer)) {}
  Result<RegisteredSchema> ById(int32_t id) override {
    ++calls;
    return answer_(id);
  }
  Result<RegisteredSchema> Latest(const std::string& /*subject*/) override {
    return Error(ErrorKind::kNotFound, "none");
  }
  std::atomic<int> calls{0};

 private:
  Answer answer_;
};

RegisteredSchema SchemaNamed(std::string text) {
  RegisteredSchema schema;
  schema.text = std::move(text);
  return schema;
}

class SchemaCacheTest : public ::testing::Test {
 protected:
  std::shared_ptr<FakeFetcher> Fetcher(FakeFetcher::Answer answer) {
    return std::make_shared<FakeFetcher>(std::move(answer));
  }

  runtime::ManualClock clock_;
  runtime::SeededIds ids_{7};
  SchemaCacheOptions patient_{.patience_ms = 10'000};
};

TEST_F(SchemaCacheTest, AsksOnceForAnId) {
  auto fetcher = Fetcher([](int32_t id) { return SchemaNamed(std::to_string(id)); });
  SchemaCache cache(fetcher, clock_, ids_, patient_);
  EXPECT_EQ((*cache.Find(3))->text, "3");
  EXPECT_EQ((*cache.Find(3))->text, "3");
  EXPECT_EQ(fetcher->calls, 1);
}

TEST_F(SchemaCacheTest, DoesNotWaitForARegistryThatIsSlow) {
  std::promise<void> go;
  auto gate = go.get_future().share();
  auto fetcher = Fetcher([gate](int32_t) {
    gate.wait();
    return SchemaNamed("late");
  });
  SchemaCache cache(fetcher, clock_, ids_, {.patience_ms = 5});
  const auto not_yet = cache.Find(1);
  ASSERT_FALSE(not_yet.ok());
  EXPECT_EQ(not_yet.error().retry(), RetryHint::kYes);
  EXPECT_FALSE(cache.Find(1).ok());
  go.set_value();
  while (!cache.Find(1).ok()) std::this_thread::yield();
  EXPECT_EQ(fetcher->calls, 1);
}

TEST_F(SchemaCacheTest, BacksOffWhileTheRegistryIsAwayAndThenRecovers) {
  std::atomic<bool> away{true};
  auto fetcher = Fetcher([&](int32_t) -> Result<RegisteredSchema> {
    if (away) return Error(ErrorKind::kUnavailable, "connection refused");
    return SchemaNamed("s");
  });
  SchemaCache cache(fetcher, clock_, ids_, patient_);
  const auto first = cache.Find(1);
  ASSERT_FALSE(first.ok());
  EXPECT_NE(first.error().message().find("connection refused"), std::string::npos);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(cache.Find(1).error().retry(), RetryHint::kYes);
  EXPECT_EQ(fetcher->calls, 1);  // the clock stands still
  away = false;
  clock_.Advance(60'000);
  EXPECT_TRUE(cache.Find(1).ok());
  EXPECT_EQ(fetcher->calls, 2);
}

TEST_F(SchemaCacheTest, BelievesNotFoundForAWhile) {
  std::atomic<bool> there{false};
  auto fetcher = Fetcher([&](int32_t) -> Result<RegisteredSchema> {
    if (!there) return Error(ErrorKind::kNotFound, "no schema 1");
    return SchemaNamed("s");
  });
  SchemaCache cache(fetcher, clock_, ids_, patient_);
  EXPECT_EQ(cache.Find(1).error().kind(), ErrorKind::kNotFound);
  there = true;
  EXPECT_EQ(cache.Find(1).error().kind(), ErrorKind::kNotFound);
  clock_.Advance(patient_.negative_ttl_ms + 1);
  EXPECT_TRUE(cache.Find(1).ok());
}

TEST_F(SchemaCacheTest, ForgetsTheOneNotAskedForTheLongest) {
  auto fetcher = Fetcher([](int32_t id) { return SchemaNamed(std::to_string(id)); });
  SchemaCacheOptions options = patient_;
  options.max_schemas = 2;
  SchemaCache cache(fetcher, clock_, ids_, options);
  for (const int id : {1, 2, 1, 3, 1}) ASSERT_TRUE(cache.Find(id).ok());
  EXPECT_EQ(fetcher->calls, 3);
  ASSERT_TRUE(cache.Find(2).ok());
  EXPECT_EQ(fetcher->calls, 4);
}

TEST_F(SchemaCacheTest, ManyThreadsShareOneQuestion) {
  auto fetcher = Fetcher([](int32_t) { return SchemaNamed("s"); });
  SchemaCache cache(fetcher, clock_, ids_, patient_);
  std::vector<std::jthread> threads;
  std::atomic<int> found{0};
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { found += cache.Find(1).ok() ? 1 : 0; });
  threads.clear();
  EXPECT_EQ(found, 8);
  EXPECT_EQ(fetcher->calls, 1);
}

}  // namespace
}  // namespace firn::decode
