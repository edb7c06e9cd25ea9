#include "firn/store/metered_store.h"

#include <gtest/gtest.h>

#include "firn/store/memory/memory_store.h"

namespace firn::store {
namespace {

TEST(MeteredStore, CountsRequestsByKindAndOutcomeAndPassesThemOn) {
  obs::Metrics metrics;
  MeteredStore store(std::make_shared<MemoryStore>(), "memory", metrics);
  ASSERT_TRUE(store.WriteAll("memory://a/b", "12345", IfExists::kFail).ok());
  EXPECT_EQ(*store.ReadAll("memory://a/b"), "12345");
  EXPECT_EQ(store.Head("memory://none").error().kind(), ErrorKind::kNotFound);
  EXPECT_TRUE(store.Delete("memory://a/b").ok());
  const auto requests = [&metrics](std::string_view kind, std::string_view outcome) {
    return metrics.counter(obs::Metric::kStoreRequests, {"memory", kind, outcome}).value();
  };
  EXPECT_EQ(requests("write", "ok"), 1);
  EXPECT_GE(requests("read", "ok"), 1);
  EXPECT_EQ(requests("head", "not found"), 1);
  EXPECT_EQ(requests("delete", "ok"), 1);
  EXPECT_EQ(metrics.counter(obs::Metric::kStoreBytes, {"memory", "written"}).value(), 5);
  EXPECT_EQ(metrics.counter(obs::Metric::kStoreBytes, {"memory", "read"}).value(), 5);
}

}  // namespace
}  // namespace firn::store
