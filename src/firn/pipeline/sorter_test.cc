#include "firn/pipeline/sorter.h"

#include <gtest/gtest.h>

namespace firn::pipeline {
namespace {

/// Values as "a=1;b=2" would be enough; here the value is the first field itself.
class WholeValue final : public decode::KeyReader {
 public:
  const std::vector<std::optional<std::string_view>>& Read(const record::RawBatch& raw,
                                                           size_t record) override {
    values_[0] = raw.values[record].is_null() ? std::nullopt : std::optional(raw.value(record));
    return values_;
  }

 private:
  std::vector<std::optional<std::string_view>> values_ = std::vector<std::optional<std::string_view>>(1);
};

PipelineConfig Rules(const std::vector<std::pair<std::string, std::string>>& field_and_name,
                     int32_t max_tables = 1000) {
  PipelineConfig config;
  config.tables.clear();
  for (const auto& [pattern, name] : field_and_name) {
    TableConfig rule;
    rule.name = {"lake", {"shop"}, name};
    if (!pattern.empty()) rule.match.field["type"] = pattern;
    rule.max_tables = max_tables;
    config.tables.push_back(rule);
  }
  return config;
}

record::RawBatch Batch(const std::vector<std::string>& values, int64_t first = 10) {
  record::RawBatch raw;
  raw.partition = {"events", 0};
  raw.range = {first, first + static_cast<int64_t>(values.size()), {"c", "t"}, {}};
  for (const std::string& value : values) {
    raw.offsets.push_back(first++);
    raw.timestamps_ms.push_back(7);
    raw.keys.push_back({raw.arena.Append("k" + value), static_cast<uint32_t>(value.size() + 1)});
    raw.values.push_back({raw.arena.Append(value), static_cast<uint32_t>(value.size())});
    raw.headers.push_back({static_cast<uint32_t>(raw.size() - 1),
                           {raw.arena.Append("h"), 1},
                           {raw.arena.Append(value), static_cast<uint32_t>(value.size())}});
  }
  return raw;
}

struct Fixture {
  explicit Fixture(const PipelineConfig& rules) : config(rules), book(config) {
    auto router = route::Router::Make(RouteRules(config));
    EXPECT_TRUE(router.ok()) << router.error().ToString();
    sorter.emplace(*router, book, std::make_unique<WholeValue>());
  }
  PipelineConfig config;
  TargetBook book;
  std::optional<Sorter> sorter;
};

std::string Values(const record::RawBatch& raw) {
  std::string text;
  for (size_t i = 0; i < raw.size(); ++i)
    text += std::string(raw.value(i)) + "@" + std::to_string(raw.offsets[i]) + " ";
  return text;
}

TEST(SorterTest, ABatchOfOneTableGoesThroughAsItIs) {
  Fixture f(Rules({{"", "all"}}));
  auto raw = Batch({"a", "b"});
  const char* bytes = raw.arena.data();
  Sorted sorted = f.sorter->Sort(std::move(raw));
  ASSERT_EQ(sorted.parts.size(), 1U);
  EXPECT_EQ(sorted.parts[0].target->name, "lake.shop.all");
  EXPECT_EQ(sorted.parts[0].raw.arena.data(), bytes) << "nothing is copied";
}

TEST(SorterTest, RecordsGoToTheirTablesWithKeysAndHeadersAndEachPartCoversTheRange) {
  Fixture f(Rules({{"a.*", "as"}, {"b.*", "{type}"}}));
  Sorted sorted = f.sorter->Sort(Batch({"a1", "b1", "x", "a2", "b1"}));
  ASSERT_EQ(sorted.parts.size(), 2U);
  EXPECT_EQ(sorted.parts[0].target->name, "lake.shop.as");
  EXPECT_EQ(Values(sorted.parts[0].raw), "a1@10 a2@13 ");
  EXPECT_EQ(sorted.parts[1].target->name, "lake.shop.b1");
  EXPECT_EQ(Values(sorted.parts[1].raw), "b1@11 b1@14 ");
  for (const SortedRecords& part : sorted.parts) {
    EXPECT_EQ(part.raw.range.from, 10);
    EXPECT_EQ(part.raw.range.to, 15);
    ASSERT_EQ(part.raw.headers.size(), 2U);
    EXPECT_EQ(part.raw.headers[1].record, 1U);
    EXPECT_EQ(part.raw.arena.View(part.raw.headers[1].value.begin, part.raw.headers[1].value.length),
              part.raw.value(1));
    EXPECT_EQ(part.raw.key(1), "k" + std::string(part.raw.value(1)));
  }
  ASSERT_EQ(sorted.letters.size(), 1U);
  EXPECT_EQ(sorted.letters[0].reason, "no_route");
  EXPECT_EQ(sorted.letters[0].offset, 12);
  EXPECT_EQ(sorted.letters[0].value, "x");
  EXPECT_EQ(sorted.letters[0].key, "kx");
  ASSERT_EQ(sorted.letters[0].headers.size(), 1U);
}

TEST(SorterTest, MoreTablesThanAllowedAndNamesThatCollideAreDeadLetters) {
  Fixture f(Rules({{"", "{type}"}}, 2));
  Sorted sorted = f.sorter->Sort(Batch({"a.b", "a-b", "c", "d", "c"}));
  ASSERT_EQ(sorted.parts.size(), 2U);
  EXPECT_EQ(sorted.parts[0].target->name, "lake.shop.a_b");
  EXPECT_EQ(Values(sorted.parts[1].raw), "c@12 c@14 ");
  ASSERT_EQ(sorted.letters.size(), 2U);
  EXPECT_EQ(sorted.letters[0].reason, "table_name_taken");
  EXPECT_NE(sorted.letters[0].message.find("\"a.b\""), std::string::npos) << sorted.letters[0].message;
  EXPECT_EQ(sorted.letters[1].reason, "too_many_tables");
}

TEST(TargetBookTest, TablesOfAnEarlierRunCountAndAreLetIn) {
  TargetBook book(Rules({{"", "{type}"}}, 2));
  EXPECT_NE(book.Remember("lake.shop.a", {"uuid", "lake.shop.{type}", "a"}), nullptr);
  EXPECT_NE(book.Remember("lake.shop.b", {"uuid", "lake.shop.{type}", "b"}), nullptr);
  EXPECT_EQ(book.Remember("lake.shop.z", {"uuid", "lake.other.{type}", "z"}), nullptr)
      << "no such rule any more";
  EXPECT_TRUE(std::holds_alternative<TargetPtr>(book.Find({0, "lake.shop.a", "a"})));
  EXPECT_TRUE(std::holds_alternative<route::NotRouted>(book.Find({0, "lake.shop.c", "c"})));
}

}  // namespace
}  // namespace firn::pipeline
