#include "firn/http/aws/xml.h"

#include <gtest/gtest.h>

namespace firn::http::aws {
namespace {

TEST(Xml, ReadsElementsWithoutPrefixesAndAttributes) {
  const Result<XmlElement> root =
      ParseXml("<?xml version=\"1.0\"?>\n<s3:R xmlns:s3=\"urn:x\"><A x='1'>a &amp; b</A><B/><A>c</A></s3:R>");
  ASSERT_TRUE(root.ok()) << root.error().ToString();
  EXPECT_EQ(root->name, "R");
  ASSERT_EQ(root->children.size(), 3U);
  EXPECT_EQ(root->Text("A"), "a & b");
  EXPECT_EQ(root->children[2].text, "c");
  EXPECT_EQ(root->Find("C"), nullptr);
  EXPECT_EQ(root->Text("C"), "");
}

TEST(Xml, RefusesWhatIsNoAnswer) {
  for (const char* text : {"", "no xml", "<A>", "<A></B>", "<A/><B/>", "<A>\xFF</A>",
                           "<!DOCTYPE A [<!ENTITY e \"x\">]><A>&e;</A>", "<html><body>Bad gateway</html>"}) {
    const Result<XmlElement> root = ParseXml(text);
    ASSERT_FALSE(root.ok()) << text;
    EXPECT_EQ(root.error().kind(), ErrorKind::kCorrupt) << text;
  }
}

TEST(Xml, RefusesTooManyLevels) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "<a>";
  EXPECT_EQ(ParseXml(text).error().kind(), ErrorKind::kCorrupt);
}

TEST(Xml, EscapedTextComesBackAsItWas) {
  const std::string text = "a<b>&\"'\t\r\n\xE2\x82\xAC=%2F";
  EXPECT_EQ(ParseXml("<K>" + XmlEscape(text) + "</K>")->text, text);
  EXPECT_TRUE(IsXmlText(text));
  EXPECT_FALSE(IsXmlText("a\x01"));
  EXPECT_FALSE(IsXmlText("a\xFF"));
}

}  // namespace
}  // namespace firn::http::aws
