#include "firn/config/node.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace firn::config {

std::string Place::ToString() const {
  const std::string name = file ? *file : std::string();
  return line == 0 ? name : fmt::format("{}:{}:{}", name, line, column);
}

Node::Node() {
  static const auto empty = [] {
    auto tree = std::make_shared<Tree>();
    tree->kind = Kind::kMap;
    return tree;
  }();
  tree_ = empty;
}

Node::Node(std::shared_ptr<const Tree> tree, std::string path)
    : tree_(std::move(tree)), path_(std::move(path)) {}

Node::Kind Node::kind() const { return tree_->kind; }
const Place& Node::place() const { return tree_->place; }
const std::string& Node::text() const { return tree_->text; }
bool Node::quoted() const { return tree_->quoted; }

std::vector<Node> Node::Items() const {
  std::vector<Node> items;
  items.reserve(tree_->items.size());
  for (size_t i = 0; i < tree_->items.size(); ++i)
    items.emplace_back(tree_->items[i], fmt::format("{}[{}]", path_, i));
  return items;
}

namespace {

std::string Below(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

}  // namespace

std::vector<Node::Entry> Node::Entries() const {
  std::vector<Entry> entries;
  entries.reserve(tree_->members.size());
  for (const auto& member : tree_->members) {
    entries.push_back({member.key, member.place, Node(member.value, Below(path_, member.key))});
  }
  return entries;
}

std::optional<Node> Node::Find(std::string_view key) const {
  for (const auto& member : tree_->members) {
    if (member.key == key) return Node(member.value, Below(path_, member.key));
  }
  return std::nullopt;
}

std::string Node::folder() const {
  const Place& where = place();
  const std::filesystem::path file = where.file ? *where.file : std::string();
  return file.has_parent_path() ? file.parent_path().string() : ".";
}

}  // namespace firn::config
