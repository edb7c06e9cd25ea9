#include "firn/config/load.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "firn/base/bytes.h"
#include "firn/config/interpolate.h"

namespace firn::config {

namespace {

constexpr size_t kMaxFileBytes = size_t{16} << 20U;
constexpr int64_t kMaxNodes = 1'000'000;

using TreePtr = std::shared_ptr<const Node::Tree>;

/// For what is read only to be refused.
const Environment kNoEnvironment = {[](const std::string&) { return std::string(); },
                                    [](const std::string&) -> Result<std::string> { return std::string(); }};

/// "010", "-007": YAML 1.1 reads 8 and -7, YAML 1.2 10 and -7, people 10 and a text.
bool LooksOctal(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && text.find_first_not_of("0123456789_") == std::string_view::npos;
}

/// Builds the tree out of yaml-cpp's events, which unlike its nodes show what was written twice.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::shared_ptr<const std::string> file, const Environment& environment, Problems& problems)
      : file_(std::move(file)), environment_(environment), problems_(problems) {}

  TreePtr root() const { return root_; }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Take(NewTree(mark, Node::Kind::kNull), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found != anchors_.end()) {
      Add(found->second);
      return;
    }
    Complain(mark, "an alias inside the value that it names");
    Add(NewTree(mark, Node::Kind::kNull));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    CheckTag(mark, tag);
    auto tree = NewTree(mark, Node::Kind::kScalar);
    tree->quoted = tag != "?";
    tree->text = value;
    if (!ExpectsKey()) FinishScalar(mark, *tree);
    Take(std::move(tree), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Open(mark, tag, anchor, Node::Kind::kList);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Open(mark, tag, anchor, Node::Kind::kMap);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapEnd() override { Close(); }

 private:
  struct Frame {
    std::shared_ptr<Node::Tree> tree;
    YAML::anchor_t anchor = 0;
    bool has_key = false;  ///< of a map: the key is read, its value is next
    std::string key;
    Place key_place;
  };

  Place PlaceOf(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

  std::shared_ptr<Node::Tree> NewTree(const YAML::Mark& mark, Node::Kind kind) const {
    auto tree = std::make_shared<Node::Tree>();
    tree->kind = kind;
    tree->place = PlaceOf(mark);
    return tree;
  }

  std::string Path() const {
    std::string path;
    for (const Frame& frame : frames_) {
      if (frame.tree->kind == Node::Kind::kList) {
        path += "[" + std::to_string(frame.tree->items.size()) + "]";
      } else if (frame.has_key) {
        path += (path.empty() ? "" : ".") + frame.key;
      }
    }
    return path;
  }

  void Complain(const YAML::Mark& mark, std::string message) {
    problems_.Add(PlaceOf(mark), Path(), std::move(message));
  }

  bool ExpectsKey() const {
    return !frames_.empty() && frames_.back().tree->kind == Node::Kind::kMap && !frames_.back().has_key;
  }

  void CheckTag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    Complain(mark, "tags are not understood here: remove \"" + Excerpt(tag) + "\"");
  }

  void FinishScalar(const YAML::Mark& mark, Node::Tree& tree) {
    if (!tree.quoted && LooksOctal(tree.text)) {
      Complain(mark, "the number " + Excerpt(tree.text, 40) +
                         " begins with 0: write it without, or in quotes if it is a text");
      return;
    }
    const Node here(std::make_shared<Node::Tree>(tree), {});
    Result<std::string> text = Interpolate(tree.text, here.folder(), environment_);
    if (text.ok()) {
      tree.text = std::move(text).value();
    } else {
      Complain(mark, text.error().ToString());
    }
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Node::Kind kind) {
    CheckTag(mark, tag);
    Frame frame;
    frame.tree = NewTree(mark, kind);
    frame.anchor = anchor;
    frames_.push_back(std::move(frame));
  }

  void Close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    Take(std::move(frame.tree), frame.anchor);
  }

  /// A finished value: remembers it under its anchor and puts it where it belongs.
  void Take(TreePtr tree, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = tree;
    Add(std::move(tree));
  }

  void Add(TreePtr tree) {
    if (frames_.empty()) {
      root_ = std::move(tree);
      return;
    }
    Frame& frame = frames_.back();
    frame.tree->weight = std::min(kMaxNodes + 1, frame.tree->weight + tree->weight);
    if (frame.tree->kind == Node::Kind::kList) {
      frame.tree->items.push_back(std::move(tree));
    } else if (!frame.has_key) {
      TakeKey(frame, *tree);
    } else {
      TakeMember(frame, std::move(tree));
    }
  }

  void TakeKey(Frame& frame, const Node::Tree& tree) {
    if (tree.kind != Node::Kind::kScalar) {
      problems_.Add(tree.place, Path(), "a key must be a text");
    } else if (tree.text == "<<") {
      problems_.Add(tree.place, Path(), "merge keys (<<) are not understood here: write the keys out");
    }
    frame.key = tree.text;
    frame.key_place = tree.place;
    frame.has_key = true;
  }

  void TakeMember(Frame& frame, TreePtr tree) {
    const auto first = std::ranges::find(frame.tree->members, frame.key, &Node::Tree::Member::key);
    if (first == frame.tree->members.end()) {
      frame.tree->members.push_back({frame.key, frame.key_place, std::move(tree)});
    } else {
      problems_.Add(frame.key_place, Path(),
                    "this key is written twice, first at line " + std::to_string(first->place.line));
    }
    frame.has_key = false;
  }

  std::shared_ptr<const std::string> file_;
  const Environment& environment_;
  Problems& problems_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, TreePtr> anchors_;
  TreePtr root_;
};

void FindTabs(std::string_view text, const std::shared_ptr<const std::string>& file, Problems& problems) {
  int line = 1;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view current = text.substr(0, end);
    const size_t content = current.find_first_not_of(" \t\r");
    const size_t tab = current.find('\t');
    if (content != std::string_view::npos && tab < content) {
      problems.Add({file, line, static_cast<int>(tab) + 1}, {}, "a tab in the indentation: use spaces");
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++line;
  }
}

void Parse(std::string_view text, const std::shared_ptr<const std::string>& file, TreeBuilder& builder,
           Problems& problems) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    Problems ignored;
    TreeBuilder second(file, kNoEnvironment, ignored);
    if (parser.HandleNextDocument(second)) {
      problems.Add(second.root() ? second.root()->place : Place{file, 1, 1}, {},
                   "a second document: one file holds one document");
    }
  } catch (const YAML::Exception& e) {
    problems.Add({file, e.mark.is_null() ? 0 : e.mark.line + 1, e.mark.column + 1}, {},
                 "not valid YAML: " + e.msg);
  } catch (const std::exception& e) {
    problems.Add({file, 0, 0}, {}, std::string("not valid YAML: ") + e.what());
  }
}

/// yaml-cpp takes a quoted text that the end of the file cuts off, if a line break comes before the end;
/// without it, it throws.
void CheckLastQuote(std::string_view text, const std::shared_ptr<const std::string>& file,
                    Problems& problems) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  Problems ignored;
  TreeBuilder unused(file, kNoEnvironment, ignored);
  Parse(text, file, unused, problems);
}

/// Puts the members of `from` into `into`; below the top level maps are joined once more.
void Merge(Node::Tree& into, const Node::Tree& from, const std::string& path, bool join_maps,
           Problems& problems) {
  for (const auto& member : from.members) {
    const std::string member_path = path.empty() ? member.key : path + "." + member.key;
    const auto found = std::ranges::find(into.members, member.key, &Node::Tree::Member::key);
    if (found == into.members.end()) {
      into.members.push_back(member);
    } else if (join_maps && found->value->kind == Node::Kind::kMap &&
               member.value->kind == Node::Kind::kMap) {
      auto joined = std::make_shared<Node::Tree>(*found->value);
      Merge(*joined, *member.value, member_path, false, problems);
      found->value = std::move(joined);
    } else {
      problems.Add(member.place, member_path, "this key is also written at " + found->place.ToString());
    }
  }
}

}  // namespace

std::optional<Node> LoadText(std::string_view text, const std::string& file_name,
                             const Environment& environment, Problems& problems) {
  const auto file = std::make_shared<const std::string>(file_name);
  const size_t before = problems.size();
  if (text.size() > kMaxFileBytes)
    problems.Add({file, 0, 0}, {}, "larger than 16 MiB: this cannot be a configuration");
  if (!IsValidUtf8(text) || text.find('\0') != std::string_view::npos)
    problems.Add({file, 0, 0}, {}, "not a UTF-8 text");
  if (problems.size() != before) return std::nullopt;
  FindTabs(text, file, problems);
  if (problems.size() != before) return std::nullopt;
  TreeBuilder builder(file, environment, problems);
  Parse(text, file, builder, problems);
  if (problems.size() == before) CheckLastQuote(text, file, problems);
  const TreePtr root = builder.root();
  if (problems.size() == before && (!root || root->kind != Node::Kind::kMap)) {
    problems.Add(root ? root->place : Place{file, 1, 1}, {}, "a map of keys is expected at the top level");
  }
  if (problems.size() == before && root->weight > kMaxNodes) {
    problems.Add(root->place, {}, "more than a million values, counting what aliases repeat");
  }
  if (problems.size() != before) return std::nullopt;
  return Node(root, {});
}

std::optional<Node> LoadFiles(std::span<const std::string> paths, const Environment& environment,
                              Problems& problems) {
  auto merged = std::make_shared<Node::Tree>();
  merged->kind = Node::Kind::kMap;
  const size_t before = problems.size();
  for (const std::string& path : paths) {
    Result<std::string> text = environment.file(path);
    if (!text.ok()) {
      problems.Add(Place{}, {}, text.error().ToString());
      continue;
    }
    const std::optional<Node> root = LoadText(*text, path, environment, problems);
    if (!root) continue;
    if (!merged->place.file) merged->place = root->place();
    Merge(*merged, root->tree(), {}, true, problems);
  }
  if (problems.size() != before) return std::nullopt;
  return Node(std::move(merged), {});
}

}  // namespace firn::config
