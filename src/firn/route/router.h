#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "firn/base/result.h"

namespace firn::route {

/// Reason codes of dead letters of stage "route". Stable: people filter and alert on them.
namespace reason {
inline constexpr std::string_view kNoRoute = "no_route";           ///< no rule matches
inline constexpr std::string_view kNoTableName = "no_table_name";  ///< a field that the name takes is missing
inline constexpr std::string_view kTooManyTables = "too_many_tables";    ///< `max_tables` of the rule
inline constexpr std::string_view kTableNameTaken = "table_name_taken";  ///< another source has that name
}  // namespace reason

/// A field whose value must match, as a whole.
struct FieldMatch {
  std::string path;  ///< dotted for nested fields
  std::string pattern;
};

/// One entry of `tables:` as far as it decides where records go.
struct RouteRule {
  std::string topic;               ///< regular expression for the whole topic; empty: any topic
  std::vector<FieldMatch> fields;  ///< all of them must match
  std::string name;  ///< table name, with `{topic}`, `{topic:N}` (group N of `topic`) and `{field.path}`
};

/// A value of the record, as text; empty where the record has none (or an object, a list, a fraction).
using FieldValue = std::optional<std::string_view>;

/// Longest value that may match or name a table; a longer one counts as missing.
inline constexpr size_t kMaxValueBytes = 256;

struct RoutedTo {
  size_t rule = 0;
  std::string table;  ///< characters that catalogs refuse have become '_'
  std::string key;    ///< what the template took, as it was: two keys with one table collide
  bool operator==(const RoutedTo&) const = default;
};
struct NotRouted {
  std::string_view reason;
  std::string message;
};
using Route = std::variant<RoutedTo, NotRouted>;

/// Which rules may take the records of one topic. Made once a topic, asked for each record that needs it.
class TopicRoutes;

/// The first rule that matches decides (product.md, "Pipeline file"). Pure and immutable; shared by all
/// lanes.
class Router {
 public:
  /// kInvalidArgument: a pattern or template that does not parse, with the index of its rule.
  static Result<std::shared_ptr<const Router>> Make(const std::vector<RouteRule>& rules);
  virtual ~Router() = default;

  /// Paths of the fields that any rule looks at, in the order of the values that Route takes.
  virtual const std::vector<std::string>& fields() const = 0;
  /// One rule that takes everything into one table: that table alone is the pipeline's ledger.
  virtual bool sole() const = 0;
  virtual std::shared_ptr<const TopicRoutes> ForTopic(const std::string& topic) const = 0;
};

class TopicRoutes {
 public:
  virtual ~TopicRoutes() = default;
  /// Where every record of the topic goes; null when their fields decide.
  virtual const Route* constant() const = 0;
  /// `values` as Router::fields has them.
  virtual Route Of(const std::vector<FieldValue>& values) const = 0;
};

/// What stands in a template, for checks: the literal text with every placeholder replaced by `filler`.
std::string FilledTemplate(std::string_view name, std::string_view filler);
bool IsLiteral(std::string_view name);

/// A value as a part of a table's name: letters, digits and '_' stay, every other character becomes '_'.
std::string NamePart(std::string_view value);

}  // namespace firn::route
