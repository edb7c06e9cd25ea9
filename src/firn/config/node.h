#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firn::config {

/// Where something stands in a configuration file; line and column count from 1.
struct Place {
  std::shared_ptr<const std::string> file;  ///< path as it was given
  int line = 0;
  int column = 0;
  std::string ToString() const;  ///< "flights.yaml:12:5"
};

/// One value of a configuration with its position and key path. A cheap handle to an immutable, shared tree.
/// Scalars are text with `${...}` already replaced; types come from the reader (type.h), not from YAML.
class Node {
 public:
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };
  struct Entry;

  /// An empty map without a place.
  Node();

  Kind kind() const;
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_scalar() const { return kind() == Kind::kScalar; }
  bool is_list() const { return kind() == Kind::kList; }
  bool is_map() const { return kind() == Kind::kMap; }

  const Place& place() const;
  /// "pipelines.flights.tables[0].name"; empty for the root.
  const std::string& path() const { return path_; }
  /// Of a scalar; empty for anything else.
  const std::string& text() const;
  /// A scalar that was written in quotes.
  bool quoted() const;
  /// Of a list; empty for anything else.
  std::vector<Node> Items() const;
  /// Of a map, in the order of the file; empty for anything else.
  std::vector<Entry> Entries() const;
  std::optional<Node> Find(std::string_view key) const;
  /// Folder of the file that holds this value: what relative paths are relative to.
  std::string folder() const;

  /// The tree behind; made by load.cc only.
  struct Tree;
  Node(std::shared_ptr<const Tree> tree, std::string path);
  const Tree& tree() const { return *tree_; }

 private:
  std::shared_ptr<const Tree> tree_;
  std::string path_;
};

struct Node::Entry {
  std::string key;
  Place key_place;
  Node value;
};

struct Node::Tree {
  struct Member {
    std::string key;
    Place place;
    std::shared_ptr<const Tree> value;
  };
  Kind kind = Kind::kNull;
  Place place;
  std::string text;
  bool quoted = false;
  std::vector<std::shared_ptr<const Tree>> items;
  std::vector<Member> members;
  int64_t weight = 1;  ///< nodes below and including this one, aliases counted as often as they are used
};

}  // namespace firn::config
