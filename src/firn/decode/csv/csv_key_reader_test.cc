#include "firn/decode/csv/csv_key_reader.h"

#include <gtest/gtest.h>

#include "firn/decode/csv/csv_test_support.h"

namespace firn::decode::testing {
namespace {

using Texts = std::vector<std::string>;

Texts ReadFields(const CsvDialect& dialect, const Texts& names, const record::RawBatch& raw,
                 size_t record = 0) {
  auto reader = MakeCsvKeyReader(dialect, names);
  EXPECT_TRUE(reader.ok());
  EXPECT_TRUE((*reader)->Enter(raw).ok());
  Texts out;
  for (const auto& found : (*reader)->Read(raw, record)) out.emplace_back(found.value_or("-"));
  return out;
}

CsvDialect Named() {
  CsvDialect dialect;
  dialect.columns = {"id", "type", "a.b"};
  return dialect;
}

TEST(CsvKeyReaderTest, FieldsOfAMessageGoByTheConfiguredNames) {
  const auto raw = MakeRaw({R"(1,"or""der",x)"});
  EXPECT_EQ(ReadFields(Named(), {"type", "id", "a.b", "none"}, raw), (Texts{"or\"der", "1", "x", "-"}));
}

TEST(CsvKeyReaderTest, AFileAndAMessageMayBringTheirHeader) {
  const ReadFile file = ReadAll(CsvDialect(), "id,type\n1,order\n2,refund\n");
  EXPECT_EQ(ReadFields(CsvDialect(), {"type"}, file.raw, 1), (Texts{"refund"}));
  CsvDialect with_header;
  with_header.header = true;
  EXPECT_EQ(ReadFields(with_header, {"type"}, MakeRaw({"type,id\norder,1\n"})), (Texts{"order"}));
}

TEST(CsvKeyReaderTest, NullsShortRecordsAndWhatCannotBeSplitHaveNoValue) {
  EXPECT_EQ(ReadFields(Named(), {"type"}, MakeRaw({"1,,x"})), (Texts{"-"}));
  EXPECT_EQ(ReadFields(Named(), {"id", "a.b"}, MakeRaw({"1,order"})), (Texts{"1", "-"}));
  EXPECT_EQ(ReadFields(Named(), {"id"}, MakeRaw({R"(1,"order)"})), (Texts{"-"}));
  EXPECT_EQ(ReadFields(Named(), {"id"}, MakeRaw({""})), (Texts{"-"}));
  EXPECT_EQ(ReadFields(Named(), {"id"}, MakeRaw({std::nullopt})), (Texts{"-"}));
  EXPECT_EQ(ReadFields(CsvDialect(), {"id"}, MakeRaw({"1,order"})), (Texts{"-"})) << "nothing has a name";
}

}  // namespace
}  // namespace firn::decode::testing
