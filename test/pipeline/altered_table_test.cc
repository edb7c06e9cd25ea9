// Tables that another engine alters, and that records alter, while they are filled. The alteration is placed
// between our look at the table and our commit, where it matters most.
#include <map>

#include "firn/iceberg/meta/manifest.h"
#include "pipeline_fixture.h"

namespace firn::pipeline {
namespace {

using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;

class AlteredTableTest : public PipelineTest {
 protected:
  AlteredTableTest() {
    config_.tables.front().columns.push_back({.name = "text", .type = "string"});
    config_.commit.interval_ms = 50;
  }

  /// `count` records with new ids and what `more` gives for the id: further fields, `,"text":"x"`.
  void ProduceWith(int count, const std::function<std::string(int64_t)>& more) {
    for (int i = 0; i < count; ++i, ++next_id_) {
      const auto partition = static_cast<int32_t>(next_id_ % kPartitions);
      log_->Append(Partition(partition),
                   fmt::format(R"({{"id":{},"partition":{}{}}})", next_id_, partition, more(next_id_)));
    }
  }
  static std::string Text(int64_t id) { return fmt::format(R"(,"text":"t{}")", id); }

  /// Another engine's commit of these updates.
  void Alter(std::vector<iceberg::Update> updates) {
    iceberg::TableCommit commit{Table(), {}, std::move(updates), ""};
    const auto result = catalog_->CommitTable(commit);
    ASSERT_TRUE(std::holds_alternative<iceberg::CommitDone>(result));
  }
  void AlterSchema(const std::function<void(std::vector<NestedField>&, int32_t next_id)>& change) {
    const auto table = Table();
    std::vector<NestedField> fields = table.metadata->schema()->fields();
    change(fields, table.metadata->last_column_id + 1);
    Alter({iceberg::update::AddSchema{std::make_shared<iceberg::Schema>(0, std::move(fields))},
           iceberg::update::SetCurrentSchema{-1}});
  }
  /// Once, when a commit of ours is on its way: the table has moved on when it arrives.
  void BeforeOurNextCommit(std::function<void()> alter) {
    catalog_->BeforeCommit([this, alter = std::move(alter)] {
      catalog_->BeforeCommit({});
      alter();
      altered_ = true;
    });
  }
  void AwaitRows(Process& process, int64_t rows) {
    Eventually([&] { return process.pipeline->status().rows_committed >= rows; }, "the rows");
  }

  /// A commit of ours more, with which we hear of what others did; once the next one is in, so have the
  /// lanes.
  void Heed(Process& process, int64_t rows) {
    ProduceWith(4, [](int64_t) { return ""; });
    AwaitRows(process, rows);
  }

  std::vector<iceberg::DataFile> LiveFiles() {
    const auto table = Table();
    std::vector<iceberg::DataFile> files;
    auto manifests = iceberg::ReadManifestList(*store_, *table.metadata->current_snapshot());
    EXPECT_TRUE(manifests.ok()) << manifests.error().ToString();
    for (const iceberg::ManifestFile& manifest : *manifests) {
      auto entries = iceberg::ReadManifest(*store_, manifest, *table.metadata);
      EXPECT_TRUE(entries.ok()) << entries.error().ToString();
      for (const iceberg::ManifestEntry& entry : *entries) {
        if (entry.live()) files.push_back(entry.file);
      }
    }
    return files;
  }
  std::map<int32_t, int64_t> RowsBySpec() {
    std::map<int32_t, int64_t> rows;
    for (const iceberg::DataFile& file : LiveFiles()) rows[file.spec_id] += file.record_count;
    return rows;
  }
  int64_t Nulls(const std::string& column) {
    const std::vector<int64_t> values = Column(column);
    return std::ranges::count(values, -1);
  }

  std::atomic<bool> altered_ = false;
};

void Erase(std::vector<NestedField>& fields, std::string_view name) {
  std::erase_if(fields, [&](const NestedField& field) { return field.name == name; });
}

TEST_F(AlteredTableTest, ANameThatIsDroppedAndAddedAnewGetsTheNewRecordsValuesAndNoOldOnes) {
  auto process = Start();
  ProduceWith(100, Text);
  AwaitRows(*process, 100);
  BeforeOurNextCommit([this] {
    AlterSchema([](std::vector<NestedField>& fields, int32_t next_id) {
      Erase(fields, "text");
      fields.push_back({.id = next_id, .name = "text", .type = Type::Primitive(TypeId::kString)});
    });
  });
  ProduceWith(100, Text);
  AwaitRows(*process, 200);
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  EXPECT_TRUE(altered_);
  ExpectAllOnce();
  EXPECT_EQ(Nulls("text"), 100) << "of the records before; those in the batch that met the change are filled";
}

TEST_F(AlteredTableTest, AColumnThatIsMadeRequiredMakesBadRecordsAndNoRowsWithoutIt) {
  auto process = Start();
  ProduceWith(100, Text);
  AwaitRows(*process, 100);
  BeforeOurNextCommit([this] {
    AlterSchema([](std::vector<NestedField>& fields, int32_t) { fields.back().required = true; });
  });
  ProduceWith(40, [](int64_t id) { return id == 117 ? "" : Text(id); });
  AwaitRows(*process, 139);
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  EXPECT_TRUE(altered_);
  ExpectAllOnce({117});
  EXPECT_EQ(Nulls("text"), 0);
  EXPECT_EQ(Column("offset", "events_dead_letters"), std::vector<int64_t>{117 / kPartitions});
}

TEST_F(AlteredTableTest, ARecordThatIsBadForTheFormerColumnAndGoodForTheNewOneIsARowAndNoDeadLetter) {
  ProduceWith(4, Text);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  config_.tables.front().columns.clear();
  config_.tables.front().schema_evolution = decode::Evolution::kNone;
  config_.commit.interval_ms = 60'000;
  auto process = Start();
  ProduceWith(4, [](int64_t) { return R"(,"text":17)"; });
  ProduceWith(4, Text);
  Eventually([&] { return process->pipeline->status().rows_decoded == 4; },
             "the records behind the bad ones");
  AlterSchema([](std::vector<NestedField>& fields, int32_t next_id) {
    Erase(fields, "text");
    fields.push_back({.id = next_id, .name = "text", .type = Type::Primitive(TypeId::kLong)});
  });
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce({8, 9, 10, 11});
  EXPECT_EQ(std::ranges::count(Column("text"), 17), 4);
  EXPECT_EQ(Column("offset", "events_dead_letters"), (std::vector<int64_t>{2, 2, 2, 2}));
}

TEST_F(AlteredTableTest, ADeclaredColumnThatIsDroppedInTheMiddleOfACommitStopsWithItsName) {
  auto process = Start();
  ProduceWith(100, Text);
  AwaitRows(*process, 100);
  BeforeOurNextCommit(
      [this] { AlterSchema([](std::vector<NestedField>& fields, int32_t) { Erase(fields, "text"); }); });
  ProduceWith(100, Text);
  const PipelineResult result = Wait(*process);
  EXPECT_NE(result.end, PipelineEnd::kDone);
  EXPECT_NE(result.message.find("column 'text'"), std::string::npos) << result.message;
  config_.tables.front().columns.pop_back();
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce();
}

TEST_F(AlteredTableTest, FilesOfTheFormerSpecAreCommittedUnderItAndLaterOnesFollowTheNewOne) {
  auto process = Start();
  ProduceWith(100, Text);
  AwaitRows(*process, 100);
  BeforeOurNextCommit([this] {
    iceberg::PartitionSpec spec;
    spec.fields.push_back({1, 0, "id_bucket", iceberg::Transform::Bucket(3)});
    Alter({iceberg::update::AddPartitionSpec{spec}, iceberg::update::SetDefaultSpec{-1}});
  });
  ProduceWith(100, Text);
  AwaitRows(*process, 200);
  EXPECT_EQ(RowsBySpec(), (std::map<int32_t, int64_t>{{0, 200}}));
  Heed(*process, 204);
  Heed(*process, 208);
  ProduceWith(100, Text);
  AwaitRows(*process, 308);
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  EXPECT_TRUE(altered_);
  ExpectAllOnce();
  EXPECT_GE(RowsBySpec()[0], 200);
  EXPECT_GE(RowsBySpec()[1], 100);
}

TEST_F(AlteredTableTest, WideningTheSourceOfAPartitionFieldInTheMiddleOfABatchKeepsBothHalves) {
  config_.tables.front().schema_evolution = decode::Evolution::kAddAndWiden;
  config_.commit.interval_ms = 60'000;
  for (const int64_t part : {7LL, 7LL, 3'000'000'000LL, 7LL}) {
    log_->Append(Partition(0), fmt::format(R"({{"id":{},"partition":{}}})", next_id_++, part));
  }
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce();
  std::vector<int64_t> parts = Column("part");
  std::ranges::sort(parts);
  EXPECT_EQ(parts, (std::vector<int64_t>{7, 7, 7, 3'000'000'000}));
  EXPECT_EQ(Table().metadata->schema()->FindByName("part")->type->id(), TypeId::kLong);
}

TEST_F(AlteredTableTest, OneFieldThatManyLanesSeeIsOneColumnAndOneChange) {
  config_.tables.front().schema_evolution = decode::Evolution::kAdd;
  ProduceWith(100, Text);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ProduceWith(400, [](int64_t id) { return fmt::format(R"(,"price":{},"more":{{"n":{}}})", id, id); });
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce();
  EXPECT_EQ(Table().metadata->schemas.size(), 2U);
  EXPECT_EQ(Nulls("price"), 100);
}

TEST_F(AlteredTableTest, DifferentNewFieldsInOneBatchAreOneChange) {
  config_.tables.front().schema_evolution = decode::Evolution::kAdd;
  ProduceWith(4, Text);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  for (int i = 0; i < 50; ++i, ++next_id_)
    log_->Append(Partition(0), fmt::format(R"({{"id":{},"partition":0,"field_{}":{}}})", next_id_, i, i));
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce();
  EXPECT_EQ(Table().metadata->schemas.size(), 2U);
  EXPECT_EQ(Table().metadata->schema()->fields().size(), 53U);
  EXPECT_EQ(Nulls("field_49"), 53);
}

TEST_F(AlteredTableTest, AFieldThatWasRefusedIsAddedOnceAnotherEngineHasMadeRoom) {
  config_.tables.front().schema_evolution = decode::Evolution::kAdd;
  config_.tables.front().columns.push_back({.name = "place", .type = "struct<city: string>"});
  ProduceWith(4, [](int64_t) { return R"(,"place":{"city":"x"})"; });
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  config_.tables.front().columns.pop_back();
  auto process = Start();
  ProduceWith(40, [](int64_t) { return R"(,"place.city":"x")"; });
  AwaitRows(*process, 40);
  EXPECT_EQ(Table().metadata->schemas.size(), 1U) << "it is the path of another field";
  AlterSchema([](std::vector<NestedField>& fields, int32_t) { Erase(fields, "place"); });
  Heed(*process, 44);
  Heed(*process, 48);
  ProduceWith(40, [](int64_t) { return R"(,"place.city":"x")"; });
  AwaitRows(*process, 88);
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  ExpectAllOnce();
  ASSERT_NE(Table().metadata->schema()->FindByName("place.city"), nullptr);
  EXPECT_EQ(Nulls("place.city"), 52);
}

}  // namespace
}  // namespace firn::pipeline
