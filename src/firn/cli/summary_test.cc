#include "firn/cli/summary.h"

#include <gtest/gtest.h>

namespace firn::cli {
namespace {

EndedPipeline Ended() {
  EndedPipeline ended;
  ended.status.id = "flights";
  ended.status.table = "lake.travel.flights";
  ended.status.rows_committed = 200'000;
  ended.status.commits = 3;
  ended.status.data_files = 12;
  ended.status.input_bytes = 1 << 20;
  ended.status.metadata_location = "file:///w/o'hare/metadata/1.metadata.json";
  ended.status.catalog_uri = "sqlite:/data/lake/catalog.db";
  ended.catalog_name = "lake";
  ended.warehouse = "file:///data/lake/warehouse";
  ended.took_ms = 4000;
  return ended;
}

TEST(ClosingSummary, TellsCountsAndLinesToPaste) {
  EXPECT_EQ(ClosingSummary(Ended()),
            "flights: done in 4.0 s\n"
            "  200,000 rows to lake.travel.flights in 3 commits, 12 data files (50.0k rows/s, 1.0 MiB read)\n"
            "Read it:\n"
            "  DuckDB     SELECT count(*) FROM iceberg_scan('file:///w/o''hare/metadata/1.metadata.json');\n"
            "  PyIceberg  load_catalog(\"lake\", type=\"sql\", uri=\"sqlite:////data/lake/catalog.db\", "
            "warehouse=\"file:///data/lake/warehouse\").load_table(\"travel.flights\").scan().to_arrow()\n");
}

TEST(ClosingSummary, RestCatalogNeedsNoWarehouse) {
  EndedPipeline ended = Ended();
  ended.status.catalog_uri = "http://127.0.0.1:8181";
  ended.warehouse.clear();
  EXPECT_NE(
      ClosingSummary(ended).find("load_catalog(\"lake\", type=\"rest\", uri=\"http://127.0.0.1:8181\")"),
      std::string::npos);
}

TEST(ClosingSummary, OfSeveralTablesOneIsTheExample) {
  EndedPipeline ended = Ended();
  ended.status.table = "lake.a, lake.b";
  ended.status.tables["lake.a"].rows_committed = 0;
  ended.status.tables["lake.b"].rows_committed = 5;
  EXPECT_NE(ClosingSummary(ended).find(".load_table(\"b\")"), std::string::npos) << "one with rows";
  ended.status.tables["lake.b"].rows_committed = 0;
  EXPECT_NE(ClosingSummary(ended).find(".load_table(\"a\")"), std::string::npos) << "or the first";
}

TEST(ClosingSummary, FailureComesWithItsReasonAndCountsOfWhatWentAside) {
  EndedPipeline ended = Ended();
  ended.result = {pipeline::PipelineEnd::kDataStop, "the log was trimmed past our position"};
  ended.status.dead_letters = 7;
  ended.status.metadata_location.clear();
  ended.status.catalog_uri.clear();
  const std::string text = ClosingSummary(ended);
  EXPECT_TRUE(
      text.starts_with("flights: stopped before rows were lost or doubled in 4.0 s\n  the log was trimmed "
                       "past our position\n"))
      << text;
  EXPECT_NE(text.find("  7 dead letters\n"), std::string::npos);
  EXPECT_EQ(text.find("Read it"), std::string::npos);
}

}  // namespace
}  // namespace firn::cli
