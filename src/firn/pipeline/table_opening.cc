#include "firn/pipeline/table_opening.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "firn/commit/protocol/progress.h"
#include "firn/commit/protocol/resume.h"
#include "firn/pipeline/table_setup.h"

namespace firn::pipeline {

namespace {

std::string Words(const OpenContext& context) { return "table " + context.table->name.ToString(); }

Error Gone(std::string_view what, const OpenContext& context) {
  return Error(ErrorKind::kDataLoss, fmt::format("the table {} since this pipeline wrote to it", what))
      .WithRemedy("Restore it, or run with --first-run: it is then filled with what comes from here on.")
      .WithContext(Words(context));
}

Result<iceberg::SchemaPtr> InferFrom(const OpenOrder& order, const OpenContext& context,
                                     std::vector<std::string>* notes) {
  FIRN_ASSIGN(auto sample, order.sample());
  if (sample == nullptr || sample->empty()) {
    return Error(ErrorKind::kNotFound, "no record to infer columns from").WithRemedy("Declare `columns`.");
  }
  FIRN_ASSIGN(auto inferred, context.deps->infer_schema(*sample));
  *notes = std::move(inferred.notes);
  return inferred.schema;
}

// Adopted, or the property was lost: the positions become this pipeline's own before anything is added.
Status OwnPositions(const record::Positions& positions, const OpenContext& context) {
  const commit::CommitOutcome outcome = context.committer->CommitStart(positions, context.abort);
  if (const auto* rejected = std::get_if<commit::Rejected>(&outcome)) return rejected->error;
  if (const auto* conflict = std::get_if<commit::ConflictExhausted>(&outcome)) return conflict->error;
  if (const auto* unknown = std::get_if<commit::UnknownOutcome>(&outcome))
    return commit::StopOnUnknown(*unknown);
  return Ok();
}

Status FindPositions(const OpenOrder& order, const OpenContext& context, bool created, TableOpened* opened) {
  commit::ResumeFacts facts;
  facts.table = opened->table.metadata.get();
  facts.pipeline_id = context.pipeline->id;
  facts.branch = context.table->branch;
  facts.first_run_allowed = context.options->first_run;
  facts.source.cluster_id = order.cluster_id;
  if (!created) facts.adopt = context.options->adopt;
  const commit::ResumeDecision decision = commit::DecideResume(facts);
  if (const auto* stop = std::get_if<commit::ResumeStop>(&decision))
    return Error(ErrorKind::kDataLoss, stop->found).WithRemedy(stop->remedy).WithContext(Words(context));
  const auto* at = std::get_if<commit::ResumeAt>(&decision);
  if (at == nullptr) {
    opened->how = created ? "made" : "first records of this pipeline";
    return Ok();
  }
  opened->positions = at->positions;
  opened->epoch = at->epoch;
  opened->how = at->how;
  const bool owned = facts.table->properties.contains(commit::ProgressKey(facts.pipeline_id, facts.branch));
  return owned ? Ok() : OwnPositions(at->positions, context);
}

}  // namespace

Result<TableOpened> OpenTable(const OpenContext& context, const OpenOrder& order) {
  const bool must_be_there = order.known && !context.options->first_run;
  if (must_be_there) {
    auto there = context.catalog->LoadTable(Identifier(context.table->name));
    if (!there.ok() && there.error().kind() == ErrorKind::kNotFound) return Gone("was dropped", context);
  }
  TableOpened opened;
  FIRN_ASSIGN(auto table, OpenOrCreateTable(*context.catalog, *context.table, *context.deps->ids,
                                            [&] { return InferFrom(order, context, &opened.notes); }));
  opened.table = std::move(table.table);
  if (must_be_there && order.known->uuid != opened.table.metadata->table_uuid)
    return Gone("was made anew", context);
  FIRN_TRY(FindPositions(order, context, table.created, &opened));
  return opened;
}

}  // namespace firn::pipeline
