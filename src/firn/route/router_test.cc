#include "firn/route/router.h"

#include <gtest/gtest.h>

namespace firn::route {
namespace {

std::shared_ptr<const Router> Make(const std::vector<RouteRule>& rules) {
  auto router = Router::Make(rules);
  EXPECT_TRUE(router.ok()) << router.error().ToString();
  return *router;
}

std::string Target(const Route& route) {
  if (const auto* to = std::get_if<RoutedTo>(&route)) return to->table;
  return "!" + std::string(std::get<NotRouted>(route).reason);
}

TEST(RouterTest, OneLiteralRuleWithoutAMatchIsSole) {
  const auto router = Make({{"", {}, "lake.shop.orders"}});
  EXPECT_TRUE(router->sole());
  EXPECT_EQ(Target(*router->ForTopic("anything")->constant()), "lake.shop.orders");
  EXPECT_FALSE(Make({{"a", {}, "lake.shop.orders"}})->sole());
  EXPECT_FALSE(Make({{"", {}, "lake.shop.{topic}"}})->sole());
}

TEST(RouterTest, TheFirstRuleThatMatchesTheWholeTopicWins) {
  const auto router = Make({{"shop\\.(.*)", {}, "lake.shop.{topic:1}"}, {"sho.*", {}, "lake.other.{topic}"}});
  EXPECT_EQ(Target(*router->ForTopic("shop.orders")->constant()), "lake.shop.orders");
  EXPECT_EQ(Target(*router->ForTopic("shoes")->constant()), "lake.other.shoes");
  EXPECT_EQ(Target(*router->ForTopic("my-shop.orders")->constant()), "!no_route");
}

TEST(RouterTest, CharactersThatCatalogsRefuseBecomeUnderscoresAndTheKeyTellsThemApart) {
  const auto router = Make({{"", {}, "lake.shop.{topic}"}});
  const auto a = std::get<RoutedTo>(*router->ForTopic("shop.orders-1")->constant());
  const auto b = std::get<RoutedTo>(*router->ForTopic("shop/orders.1")->constant());
  EXPECT_EQ(a.table, "lake.shop.shop_orders_1");
  EXPECT_EQ(a.table, b.table);
  EXPECT_NE(a.key, b.key);
  EXPECT_EQ(NamePart("größe"), "gr__e");
}

TEST(RouterTest, FieldsDecideWhereARuleAsksForThem) {
  const auto router = Make({{"events", {{"type", "order.*"}}, "lake.shop.orders"},
                            {"events", {}, "lake.shop.{tenant.name}_events"},
                            {"", {}, "lake.shop.rest"}});
  EXPECT_EQ(router->fields(), (std::vector<std::string>{"type", "tenant.name"}));
  const auto events = router->ForTopic("events");
  EXPECT_EQ(events->constant(), nullptr);
  EXPECT_EQ(Target(events->Of({"order_made", std::nullopt})), "lake.shop.orders");
  EXPECT_EQ(Target(events->Of({"click", "acme"})), "lake.shop.acme_events");
  EXPECT_EQ(Target(events->Of({std::nullopt, "acme"})), "lake.shop.acme_events");
  EXPECT_EQ(Target(events->Of({"click", std::nullopt})), "!no_table_name");
  EXPECT_EQ(Target(*router->ForTopic("other")->constant()), "lake.shop.rest");
}

TEST(RouterTest, ValuesThatAreTooLongDoNotMatch) {
  const auto router = Make({{"", {{"type", ".*"}}, "lake.shop.{type}"}});
  const std::string at_limit(kMaxValueBytes, 'x');
  const std::string too_long(kMaxValueBytes + 1, 'x');
  EXPECT_EQ(Target(router->ForTopic("t")->Of({too_long})), "!no_route");
  EXPECT_EQ(Target(router->ForTopic("t")->Of({at_limit})), "!no_table_name")
      << "a name of more than 255 bytes";
}

TEST(RouterTest, AnEmptyGroupNamesNoTable) {
  const auto router = Make({{"shop\\.(.*)", {}, "lake.shop.{topic:1}"}});
  EXPECT_EQ(Target(*router->ForTopic("shop.")->constant()), "!no_table_name");
}

TEST(RouterTest, WhatDoesNotParseIsNamedWithItsRule) {
  const auto error = [](const RouteRule& rule) {
    const auto router = Router::Make({{"", {}, "lake.a.b"}, rule});
    return router.ok() ? std::string("ok") : router.error().ToString();
  };
  EXPECT_NE(error({"shop(", {}, "lake.a.b"}).find("tables[1]"), std::string::npos);
  EXPECT_NE(error({"", {{"type", "[z-a]"}}, "lake.a.b"}).find("field type"), std::string::npos);
  EXPECT_NE(error({"(a)(b)", {}, "lake.a.{topic:3}"}).find("match.topic has 2"), std::string::npos);
  EXPECT_NE(error({"", {}, "lake.a.{topic"}).find("no partner"), std::string::npos);
  EXPECT_NE(error({"", {}, "lake.a.{}"}).find("holds nothing"), std::string::npos);
  EXPECT_NE(error({"", {}, "lake.a.{topic:x}"}).find("number of a group"), std::string::npos);
}

TEST(RouterTest, TemplatesCanBeFilledForChecks) {
  EXPECT_EQ(FilledTemplate("lake.shop.{topic:1}_{a.b}", "x"), "lake.shop.x_x");
  EXPECT_TRUE(IsLiteral("lake.shop.orders"));
  EXPECT_FALSE(IsLiteral("lake.shop.{topic}"));
}

}  // namespace
}  // namespace firn::route
