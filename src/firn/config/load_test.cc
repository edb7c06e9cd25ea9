#include "firn/config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace firn::config {
namespace {

using testing::HasSubstr;

class LoadTest : public testing::Test {
 protected:
  Environment Env() {
    return {[this](const std::string& name) -> std::optional<std::string> {
              const auto found = variables_.find(name);
              return found == variables_.end() ? std::nullopt : std::optional(found->second);
            },
            [this](const std::string& path) -> Result<std::string> {
              const auto found = files_.find(path);
              if (found == files_.end())
                return Error(ErrorKind::kInvalidArgument, "cannot read the file " + path);
              return found->second;
            }};
  }
  std::optional<Node> Load(std::string_view text) {
    const Environment environment = Env();
    return LoadText(text, "conf/f.yaml", environment, problems_);
  }
  std::string ProblemsOf(std::string_view text) {
    problems_ = {};
    EXPECT_FALSE(Load(text).has_value());
    return problems_.ToString();
  }
  std::string ValueOf(std::string_view yaml_value) {
    problems_ = {};
    const auto root = Load("a: " + std::string(yaml_value));
    EXPECT_TRUE(root.has_value()) << problems_.ToString();
    return root ? root->Find("a")->text() : "";
  }

  std::map<std::string, std::string> variables_ = {{"NAME", "value"}, {"EMPTY", ""}};
  std::map<std::string, std::string> files_ = {{"conf/secret.txt", "s3cret\n"}, {"/abs/x", "$x"}};
  Problems problems_;
};

TEST_F(LoadTest, KeepsPositionsPathsAndOrder) {
  const auto root = Load("b: 1\na:\n  - x\n  - c: \"y\"\n");
  ASSERT_TRUE(root.has_value());
  const auto entries = root->Entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].key, "b");
  EXPECT_EQ(entries[1].key_place.ToString(), "conf/f.yaml:2:1");
  const Node item = entries[1].value.Items()[1];
  EXPECT_EQ(item.path(), "a[1]");
  const Node leaf = *item.Find("c");
  EXPECT_EQ(leaf.path(), "a[1].c");
  EXPECT_EQ(leaf.place().ToString(), "conf/f.yaml:4:8");
  EXPECT_TRUE(leaf.quoted());
  EXPECT_EQ(leaf.folder(), "conf");
}

TEST_F(LoadTest, KindsOfValuesAreTold) {
  const auto root = Load("n:\nt: ~\ns: text\nl: []\nm: {}\n");
  ASSERT_TRUE(root.has_value());
  EXPECT_TRUE(root->Find("n")->is_null());
  EXPECT_TRUE(root->Find("t")->is_null());
  EXPECT_TRUE(root->Find("s")->is_scalar());
  EXPECT_TRUE(root->Find("l")->is_list());
  EXPECT_TRUE(root->Find("m")->is_map());
  EXPECT_FALSE(root->Find("x").has_value());
}

TEST_F(LoadTest, DuplicateKeysAreProblemsWithBothPlaces) {
  EXPECT_EQ(ProblemsOf("a:\n  b: 1\n  c: 2\n  b: 3\n"),
            "conf/f.yaml:4:3: a.b: this key is written twice, first at line 2");
}

TEST_F(LoadTest, SecondDocumentIsAProblem) {
  EXPECT_THAT(ProblemsOf("a: 1\n---\nb: ${MISSING}\n"), HasSubstr("conf/f.yaml:3:1: a second document"));
  EXPECT_TRUE(Load("---\na: 1\n...\n").has_value());
}

TEST_F(LoadTest, MergeKeysTagsAndOctalLookingNumbersAreProblems) {
  EXPECT_THAT(ProblemsOf("a: &x {k: 1}\nb:\n  <<: *x\n"), HasSubstr("conf/f.yaml:3:3: b: merge keys"));
  EXPECT_THAT(ProblemsOf("a: !!int 1\n"), HasSubstr("tags are not understood"));
  EXPECT_THAT(ProblemsOf("a: 010\n"), HasSubstr("conf/f.yaml:1:4: a: the number 010 begins with 0"));
  EXPECT_THAT(ProblemsOf("a: [-07]\n"), HasSubstr("a[0]: the number -07"));
  EXPECT_EQ(ValueOf("'010'"), "010");
  EXPECT_EQ(ValueOf("0"), "0");
  EXPECT_EQ(ValueOf("0.5"), "0.5");
}

TEST_F(LoadTest, TabsInTheIndentationAreProblemsWithTheirLine) {
  EXPECT_THAT(ProblemsOf("a:\n\tb: 1\n"), HasSubstr("conf/f.yaml:2:1: a tab in the indentation"));
  EXPECT_EQ(ValueOf("b\tc"), "b\tc");
}

TEST_F(LoadTest, BrokenYamlNamesTheLine) {
  EXPECT_THAT(ProblemsOf("a: [1, 2\nb: 3\n"), HasSubstr("conf/f.yaml:2"));
  EXPECT_THAT(ProblemsOf("a: 'x\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(ProblemsOf("a: \"x\n\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(ProblemsOf("- a\n"), HasSubstr("a map of keys is expected"));
  EXPECT_THAT(ProblemsOf(""), HasSubstr("a map of keys is expected"));
  EXPECT_THAT(ProblemsOf("a: \xff\n"), HasSubstr("not a UTF-8 text"));
  EXPECT_THAT(ProblemsOf("? [x]\n: 1\n"), HasSubstr("a key must be a text"));
}

TEST_F(LoadTest, DeepNestingAndAliasBombsAreProblemsNotCrashes) {
  EXPECT_FALSE(ProblemsOf("a: " + std::string(100'000, '[')).empty());
  std::string bomb = "a0: &a0 [x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before + "]\n";
  }
  EXPECT_THAT(ProblemsOf(bomb), HasSubstr("more than a million values"));
  EXPECT_THAT(ProblemsOf("a: &x [*x]\n"), HasSubstr("alias"));
}

TEST_F(LoadTest, AliasesRepeatAValue) {
  const auto root = Load("a: &x {k: v}\nb: *x\n");
  ASSERT_TRUE(root.has_value()) << problems_.ToString();
  EXPECT_EQ(root->Find("b")->Find("k")->text(), "v");
  EXPECT_EQ(root->Find("b")->Find("k")->path(), "b.k");
}

TEST_F(LoadTest, VariablesDefaultsFilesAndDollarsAreReplacedInValues) {
  EXPECT_EQ(ValueOf("${NAME}"), "value");
  EXPECT_EQ(ValueOf("'x-${NAME}-y'"), "x-value-y");
  EXPECT_EQ(ValueOf("${MISSING:-fallback}"), "fallback");
  EXPECT_EQ(ValueOf("${EMPTY:-fallback}"), "fallback");
  EXPECT_EQ(ValueOf("\"${MISSING:-}\""), "");
  EXPECT_EQ(ValueOf("${file:secret.txt}"), "s3cret");
  EXPECT_EQ(ValueOf("${file:/abs/x}"), "$x");
  EXPECT_EQ(ValueOf("$${NAME} costs 5$ $x"), "${NAME} costs 5$ $x");
}

TEST_F(LoadTest, BrokenReplacementsAreProblemsAtTheirPlace) {
  EXPECT_EQ(ProblemsOf("a:\n  b: ${MISSING}\n"),
            "conf/f.yaml:2:6: a.b: the environment variable MISSING is not set. Set it, or give a default: "
            "${MISSING:-default}.");
  EXPECT_THAT(ProblemsOf("a: ${NAME\n"), HasSubstr("without a closing"));
  EXPECT_THAT(ProblemsOf("a: ${no name}\n"), HasSubstr("is not ${NAME}"));
  EXPECT_THAT(ProblemsOf("a: ${file:none}\n"), HasSubstr("cannot read the file conf/none"));
}

TEST_F(LoadTest, KeysAreNotReplaced) {
  const auto root = Load("${NAME}: 1\n");
  ASSERT_TRUE(root.has_value());
  EXPECT_TRUE(root->Find("${NAME}").has_value());
}

TEST_F(LoadTest, AllProblemsOfAFileAreToldAtOnceInOrder) {
  const std::string text = ProblemsOf("a: 010\nb: ${MISSING}\na: 1\n");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_LT(text.find("f.yaml:1"), text.find("f.yaml:2"));
  EXPECT_LT(text.find("f.yaml:2"), text.find("f.yaml:3"));
}

class MergeTest : public LoadTest {
 protected:
  std::optional<Node> Merge(const std::string& one, const std::string& two) {
    files_["one.yaml"] = one;
    files_["two.yaml"] = two;
    const std::vector<std::string> paths = {"one.yaml", "two.yaml"};
    return LoadFiles(paths, Env(), problems_);
  }
};

TEST_F(MergeTest, FilesAddToEachOther) {
  const auto root =
      Merge("catalogs: {lake: {type: sql}}\npipelines: {a: {id: x}}\n", "pipelines: {b: {id: y}}\n");
  ASSERT_TRUE(root.has_value()) << problems_.ToString();
  EXPECT_EQ(root->Find("pipelines")->Entries().size(), 2U);
  EXPECT_EQ(root->Find("pipelines")->Find("b")->place().ToString(), "two.yaml:1:16");
}

TEST_F(MergeTest, TheSameKeyInTwoFilesIsAProblemWithBothPlaces) {
  EXPECT_FALSE(Merge("pipelines:\n  a: {id: x}\n", "pipelines:\n  a: {table: y}\n").has_value());
  EXPECT_EQ(problems_.ToString(), "two.yaml:2:3: pipelines.a: this key is also written at one.yaml:2:3");
}

TEST_F(MergeTest, AMissingFileIsNamed) {
  const std::vector<std::string> paths = {"nowhere.yaml"};
  EXPECT_FALSE(LoadFiles(paths, Env(), problems_).has_value());
  EXPECT_THAT(problems_.ToString(), HasSubstr("cannot read the file nowhere.yaml"));
}

}  // namespace
}  // namespace firn::config
