#include "firn/pipeline/schema_change.h"

#include <utility>
#include <variant>

#include "firn/pipeline/table_setup.h"
#include "firn/route/evolver.h"

namespace firn::pipeline {

Result<std::vector<iceberg::Update>> SchemaChange::Plan(const iceberg::TableMetadata& table) {
  const route::EvolutionPolicy policy{EffectiveEvolution(config_), config_.max_columns};
  refused_.clear();
  why_refused_.clear();
  summary_.clear();
  route::Evolved evolved = route::Evolve(delta_, table, policy);
  if (auto* change = std::get_if<route::Change>(&evolved)) {
    refused_ = std::move(change->refused);
    summary_ = std::move(change->summary);
    return std::move(change->updates);
  }
  if (auto* incompatible = std::get_if<route::Incompatible>(&evolved)) {
    refused_ = std::move(incompatible->refused);
    why_refused_ = std::move(incompatible->why);
  }
  return std::vector<iceberg::Update>{};
}

}  // namespace firn::pipeline
