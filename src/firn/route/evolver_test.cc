#include "firn/route/evolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/iceberg/model/test_field.h"

namespace firn::route {
namespace {

using iceberg::NestedField;
using iceberg::Schema;
using iceberg::Type;
using iceberg::TypeId;
using iceberg::TypePtr;
using iceberg::testing::Field;
using record::Evolution;
using record::SchemaDelta;
using ::testing::HasSubstr;

const TypePtr kInt = Type::Primitive(TypeId::kInt);
const TypePtr kLong = Type::Primitive(TypeId::kLong);
const TypePtr kString = Type::Primitive(TypeId::kString);

/// id int, name string, items list<struct<sku: string, price: decimal(9,2)>>, tags map<int, int>; partitioned
/// by bucket(id).
iceberg::TableMetadata Orders() {
  const TypePtr item = Type::Struct({Field(5, "sku", kString), Field(6, "price", Type::Decimal(9, 2))});
  auto schema = std::make_shared<const Schema>(
      0, std::vector<NestedField>{Field(1, "id", kInt, true), Field(2, "name", kString),
                                  Field(3, "items", Type::List(4, false, item)),
                                  Field(7, "tags", Type::Map(8, kInt, 9, false, kInt))});
  iceberg::NewTable table;
  table.uuid = "f79c3e09-677c-4bbd-a479-3f349cb785e7";
  table.location = "memory://orders";
  table.schema = schema;
  table.spec.fields.push_back({1, 1000, "id_bucket", iceberg::Transform::Bucket(4)});
  table.keep_field_ids = true;
  auto metadata = iceberg::NewTableMetadata(table, 1);
  EXPECT_TRUE(metadata.ok()) << metadata.error().ToString();
  return *metadata;
}

EvolutionPolicy Policy(Evolution evolution = Evolution::kAddAndWiden, int32_t max_columns = 1000) {
  return {evolution, max_columns};
}

TEST(EvolverTest, NewFieldsGetIdsFromTheLastColumnIdOnAndStandAtTheEnd) {
  const auto table = Orders();
  SchemaDelta delta;
  delta.added.push_back({0, "note", Type::Struct({Field(0, "text", kString)})});
  delta.added.push_back({4, "count", kLong});
  const auto evolved = Evolve(delta, table, Policy());
  ASSERT_TRUE(std::holds_alternative<Change>(evolved));
  const auto& change = std::get<Change>(evolved);
  EXPECT_TRUE(change.refused.empty());
  const Schema& schema = *change.schema;
  EXPECT_EQ(schema.fields().back().name, "note");
  EXPECT_EQ(schema.FindByName("note")->id, 10);
  EXPECT_EQ(schema.FindByName("items.element.count")->id, 11);
  EXPECT_EQ(schema.FindByName("note.text")->id, 12);
  EXPECT_FALSE(schema.FindByName("note")->required);
  EXPECT_EQ(schema.FindByName("items.element.price")->id, 6);
  EXPECT_EQ(change.summary, "adds note (struct<0: text: optional string>), adds items.element.count (long)");
}

TEST(EvolverTest, UpdatesMakeTheNewSchemaCurrent) {
  const auto table = Orders();
  SchemaDelta delta;
  delta.added.push_back({0, "note", kString});
  const auto evolved = Evolve(delta, table, Policy(Evolution::kAdd));
  ASSERT_TRUE(std::holds_alternative<Change>(evolved));
  const auto next = iceberg::ApplyUpdates(table, std::get<Change>(evolved).updates,
                                          {.now_ms = 2, .previous_metadata = "memory://1"});
  ASSERT_TRUE(next.ok()) << next.error().ToString();
  EXPECT_EQ(next->current_schema_id, 1);
  EXPECT_EQ(next->last_column_id, 10);
  EXPECT_NE(next->schema()->FindByName("note"), nullptr);
  // Another process plans the same delta against what is there now.
  EXPECT_TRUE(std::holds_alternative<Compatible>(Evolve(delta, *next, Policy(Evolution::kAdd))));
}

TEST(EvolverTest, AnIdThatWasUsedByADroppedColumnIsNotUsedAgain) {
  auto table = Orders();
  table.last_column_id = 40;
  SchemaDelta delta;
  delta.added.push_back({0, "note", kString});
  const auto evolved = Evolve(delta, table, Policy());
  ASSERT_TRUE(std::holds_alternative<Change>(evolved));
  EXPECT_EQ(std::get<Change>(evolved).schema->FindByName("note")->id, 41);
}

TEST(EvolverTest, WidensAsTheFormatAllows) {
  const auto table = Orders();
  SchemaDelta delta;
  delta.widened.push_back({1, kLong});
  delta.widened.push_back({6, Type::Decimal(12, 2)});
  const auto evolved = Evolve(delta, table, Policy());
  ASSERT_TRUE(std::holds_alternative<Change>(evolved));
  const auto& change = std::get<Change>(evolved);
  EXPECT_EQ(change.schema->FindById(1)->type->id(), TypeId::kLong);
  EXPECT_TRUE(change.schema->FindById(1)->required);
  EXPECT_EQ(change.schema->FindById(6)->type->precision(), 12);
  EXPECT_EQ(change.summary,
            "widens id from int to long, widens items.element.price from decimal(9, 2) to decimal(12, 2)");
}

TEST(EvolverTest, WideningNeedsThePolicyAndTheFormat) {
  const auto table = Orders();
  SchemaDelta wider;
  wider.widened.push_back({1, kLong});
  EXPECT_TRUE(std::holds_alternative<Incompatible>(Evolve(wider, table, Policy(Evolution::kAdd))));
  SchemaDelta other;
  other.widened.push_back({1, kString});
  const auto evolved = Evolve(other, table, Policy());
  ASSERT_TRUE(std::holds_alternative<Incompatible>(evolved));
  EXPECT_THAT(std::get<Incompatible>(evolved).why, HasSubstr("the format does not let int become string"));
  SchemaDelta key;
  key.widened.push_back({8, kLong});
  ASSERT_TRUE(std::holds_alternative<Incompatible>(Evolve(key, table, Policy())));
  SchemaDelta value;
  value.widened.push_back({9, kLong});
  EXPECT_TRUE(std::holds_alternative<Change>(Evolve(value, table, Policy())));
}

TEST(EvolverTest, WhatIsWideEnoughOrGoneNeedsNothing) {
  auto table = Orders();
  SchemaDelta delta;
  delta.widened.push_back({6, Type::Decimal(7, 2)});
  delta.widened.push_back({77, kLong});
  delta.added.push_back({77, "x", kLong});
  delta.added.push_back({0, "name", kLong});
  EXPECT_TRUE(std::holds_alternative<Compatible>(Evolve(delta, table, Policy())));
}

TEST(EvolverTest, EachRefusalNamesItsReasonAndTheRestIsDone) {
  const auto table = Orders();
  SchemaDelta delta;
  delta.added.push_back({0, "Name", kString});
  delta.added.push_back({0, "_file", kString});
  delta.added.push_back({0, "id_bucket", kLong});
  delta.added.push_back({0, "items.element", kLong});
  delta.added.push_back({0, "fine", kLong});
  delta.added.push_back({0, "FINE", kLong});
  const auto evolved = Evolve(delta, table, Policy());
  ASSERT_TRUE(std::holds_alternative<Change>(evolved));
  const auto& change = std::get<Change>(evolved);
  ASSERT_EQ(change.refused.size(), 5u);
  EXPECT_THAT(change.refused[0].why, HasSubstr("only in case from 'name'"));
  EXPECT_THAT(change.refused[1].why, HasSubstr("reserves"));
  EXPECT_THAT(change.refused[2].why, HasSubstr("partition field"));
  EXPECT_THAT(change.refused[3].why, HasSubstr("'items.element' is the name of another field"));
  EXPECT_THAT(change.refused[4].why, HasSubstr("only in case from 'fine'"));
  EXPECT_EQ(change.schema->fields().size(), 5u);
}

TEST(EvolverTest, NoFullNameIsThereTwice) {
  const auto table = Orders();
  const auto refused = [&](const SchemaDelta& delta) {
    const auto evolved = Evolve(delta, table, Policy());
    const auto* change = std::get_if<Change>(&evolved);
    const auto& all = change != nullptr ? change->refused : std::get<Incompatible>(evolved).refused;
    return all.empty() ? "" : all[0].name + ": " + all[0].why;
  };
  const TypePtr inner = Type::Struct({Field(0, "b", kLong)});
  EXPECT_EQ(refused({.added = {{0, "a.b", kLong}, {0, "c", kLong}}}), "");
  EXPECT_EQ(refused({.added = {{0, "a.b", kLong}, {0, "a", inner}}}),
            "a: 'a.b' is the name of another field");
  EXPECT_EQ(refused({.added = {{0, "a", inner}, {0, "a.b", kLong}}}),
            "a.b: 'a.b' is the name of another field");
  EXPECT_EQ(refused({.added = {{0, "l.element", kLong}, {0, "l", Type::List(0, false, kLong)}}}),
            "l: 'l.element' is the name of another field");
}

TEST(EvolverTest, NothingBeyondMaxColumnsAndNothingWithoutEvolution) {
  const auto table = Orders();
  SchemaDelta delta;
  delta.added.push_back({0, "a", kLong});
  delta.added.push_back({0, "b", kLong});
  const auto evolved = Evolve(delta, table, Policy(Evolution::kAdd, 7));
  ASSERT_TRUE(std::holds_alternative<Change>(evolved));
  ASSERT_EQ(std::get<Change>(evolved).refused.size(), 1u);
  EXPECT_THAT(std::get<Change>(evolved).refused[0].why, HasSubstr("max_columns"));
  const auto none = Evolve(delta, table, Policy(Evolution::kNone));
  ASSERT_TRUE(std::holds_alternative<Incompatible>(none));
  EXPECT_EQ(std::get<Incompatible>(none).refused.size(), 2u);
}

}  // namespace
}  // namespace firn::route
