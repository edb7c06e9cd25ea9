#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "firn/iceberg/meta/append.h"
#include "firn/iceberg/model/update.h"
#include "firn/iceberg/scan/table_scan.h"
#include "firn/store/memory/memory_store.h"
#include "firn/write/random_rows.h"
#include "firn/write/writer.h"

namespace firn::write {
namespace {

using iceberg::TableMetadata;
using iceberg::Transform;
using iceberg::TransformKind;
using store::MemoryStore;
using testing::RandomRows;
using testing::TypeId;
using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

/// A table that grows by whole commits: writer, manifests, metadata, and read back by a scan.
class Table {
 public:
  Table(const iceberg::SchemaPtr& schema, const iceberg::PartitionSpec& spec, int format_version) {
    iceberg::NewTable table;
    table.uuid = "5d2d1f5e-8f4e-4f6e-9a51-0d3a4d8d2b11";
    table.location = "memory://wh/t";
    table.schema = schema;
    table.spec = spec;
    table.keep_field_ids = true;
    table.format_version = format_version;
    metadata_ = std::make_shared<const TableMetadata>(iceberg::NewTableMetadata(table, 1).value());
  }

  void Append(const BatchPtr& rows) {
    const auto writer =
        MakeTableWriter({metadata_, store_, nullptr, "op" + std::to_string(++commits_), 0}).value();
    ASSERT_TRUE(writer->Append({.rows = rows, .schema_id = 0, .input_bytes = 0}).ok());
    iceberg::AppendContent content;
    content.files = writer->Finish().value();
    content.snapshot_id = commits_;
    content.commit_uuid = "commit" + std::to_string(commits_);
    iceberg::AppendBuilder builder(store_, std::move(content));
    const auto built = builder.Build(*metadata_, 1, 1000 * commits_);
    ASSERT_TRUE(built.ok()) << built.error().ToString();
    auto next = iceberg::ApplyUpdates(*metadata_, built->updates,
                                      {.now_ms = 1000 * commits_, .previous_metadata = ""});
    ASSERT_TRUE(next.ok()) << next.error().ToString();
    metadata_ = std::make_shared<const TableMetadata>(std::move(next).value());
  }

  std::vector<std::string> Read(const std::string& where, int64_t* files = nullptr) const {
    iceberg::ScanOptions options;
    options.where = where;
    auto scan = iceberg::TableScan::Make(metadata_, store_, std::move(options));
    EXPECT_TRUE(scan.ok()) << scan.error().ToString();
    auto plan = scan->Plan().value();
    if (files != nullptr) *files = static_cast<int64_t>(plan.tasks.size());
    const auto stream = scan->Read(std::move(plan)).value();
    std::vector<std::string> texts;
    while (true) {
      auto rows = stream->Next();
      EXPECT_TRUE(rows.ok()) << rows.error().ToString();
      if (!rows.ok() || *rows == nullptr) break;
      AddTexts(**rows, texts);
    }
    std::sort(texts.begin(), texts.end());
    return texts;
  }

  static void AddTexts(const arrow::RecordBatch& rows, std::vector<std::string>& texts) {
    for (int64_t row = 0; row < rows.num_rows(); ++row) {
      std::string text;
      for (const auto& column : rows.columns()) text += column->GetScalar(row).ValueOrDie()->ToString() + "|";
      texts.push_back(std::move(text));
    }
  }

  const TableMetadata& metadata() const { return *metadata_; }

 private:
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  std::shared_ptr<const TableMetadata> metadata_;
  int64_t commits_ = 0;
};

/// Each transform over each type it takes, one partition field at a time.
TEST(WriteAndScanTest, EveryTransformOfEveryTypeReadsBackAndPrunesWithoutLosingRows) {
  const auto every_type = testing::SchemaOfEveryType(true);
  RandomRows random(31);
  int tables = 0;
  for (const auto& field : every_type->fields()) {
    if (!field.type->is_primitive()) continue;
    const auto schema = std::make_shared<const iceberg::Schema>(0, std::vector<testing::NestedField>{field});
    for (const Transform& transform :
         {Transform::Identity(), Transform::Bucket(4), Transform::Truncate(5),
          Transform::Of(TransformKind::kYear), Transform::Of(TransformKind::kMonth)}) {
      const bool refused = field.type->id() == TypeId::kFixed && transform.kind() == TransformKind::kIdentity;
      if (refused || !transform.CanApply(*field.type)) continue;
      ++tables;
      iceberg::PartitionSpec spec;
      spec.fields = {{field.id, 1000, "part", transform}};
      Table table(schema, spec, 3);
      std::vector<std::string> expected;
      for (int commit = 0; commit < 2; ++commit) {
        const BatchPtr rows = random.Batch(*schema, 30);
        Table::AddTexts(*rows, expected);
        table.Append(rows);
      }
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(table.Read(""), expected) << transform.ToString() << " of " << field.type->ToString();

      const auto nulls = table.Read(field.name + " IS NULL");
      const auto others = table.Read(field.name + " IS NOT NULL");
      ASSERT_EQ(nulls.size() + others.size(), expected.size());
    }
  }
  EXPECT_GT(tables, 40);
}

TEST(WriteAndScanTest, BoundsPruneFilesOfOtherCommits) {
  const auto schema = std::make_shared<const iceberg::Schema>(
      0,
      std::vector<testing::NestedField>{testing::Field(1, "n", testing::Type::Primitive(TypeId::kLong)),
                                        testing::Field(2, "t", testing::Type::Primitive(TypeId::kString))});
  for (const int version : {2, 3}) {
    Table table(schema, {}, version);
    for (int64_t commit = 0; commit < 4; ++commit) {
      arrow::Int64Builder numbers;
      arrow::StringBuilder texts;
      for (int64_t i = 0; i < 100; ++i) {
        testing::Check(numbers.Append(commit * 100 + i));
        testing::Check(texts.Append("text-" + std::to_string(commit)));
      }
      table.Append(arrow::RecordBatch::Make(iceberg::ToArrowSchema(*schema).value(), 100,
                                            {numbers.Finish().ValueOrDie(), texts.Finish().ValueOrDie()}));
    }
    int64_t files = 0;
    EXPECT_EQ(table.Read("n >= 150 AND n < 160", &files).size(), 10U);
    EXPECT_EQ(files, 1);
    EXPECT_EQ(table.Read("t = 'text-3'", &files).size(), 100U);
    EXPECT_EQ(files, 1);
    EXPECT_EQ(table.Read("", &files).size(), 400U);
    EXPECT_EQ(files, 4);
    EXPECT_EQ(table.metadata().next_row_id, version == 3 ? 400 : 0);
  }
}

}  // namespace
}  // namespace firn::write
