#include "firn/pipeline/target.h"

#include <utility>

#include <fmt/format.h>

namespace firn::pipeline {

TargetBook::TargetBook(const PipelineConfig& config) {
  for (const TableConfig& rule : config.tables) {
    // A literal name makes one table; its limit never binds.
    limits_.push_back({rule.name.ToString(), rule.max_tables, 0});
  }
}

TargetBook::Answer TargetBook::Find(const route::RoutedTo& to) {
  const std::lock_guard lock(mutex_);
  if (const auto found = by_name_.find(to.table); found != by_name_.end()) {
    const TargetPtr& target = found->second;
    if (target->rule == to.rule && target->key == to.key) return target;
    return route::NotRouted{
        route::reason::kTableNameTaken,
        fmt::format("the table {} is that of \"{}\" (rule {}); \"{}\" (rule {}) would have the same name",
                    to.table, target->key, target->rule + 1, to.key, to.rule + 1)};
  }
  Limit& limit = limits_.at(to.rule);
  if (limit.count >= limit.max_tables) {
    return route::NotRouted{route::reason::kTooManyTables,
                            fmt::format("{} would be table {} of the rule {}, and max_tables is {}", to.table,
                                        limit.count + 1, limit.name, limit.max_tables)};
  }
  return Add(to.table, to.rule, to.key);
}

TargetPtr TargetBook::Remember(const std::string& name, const commit::Complete::KnownTable& table) {
  const std::lock_guard lock(mutex_);
  if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
  for (size_t rule = 0; rule < limits_.size(); ++rule) {
    if (limits_[rule].name == table.rule) return Add(name, rule, table.key);
  }
  return nullptr;
}

std::vector<TargetPtr> TargetBook::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<TargetPtr> all = {unrouted_};
  for (const auto& [name, target] : by_name_) all.push_back(target);
  return all;
}

TargetPtr TargetBook::Add(const std::string& name, size_t rule, const std::string& key) {
  auto target = std::make_shared<Target>();
  target->id = next_id_++;
  target->rule = rule;
  target->name = name;
  target->key = key;
  ++limits_.at(rule).count;
  return by_name_.emplace(name, std::move(target)).first->second;
}

}  // namespace firn::pipeline
