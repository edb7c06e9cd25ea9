#include "sim/mutations.h"

#include <utility>

#include "firn/commit/committer.h"
#include "firn/commit/protocol/fence.h"
#include "firn/commit/protocol/history.h"

// The linker sends calls of these functions of commit/ here (`--wrap` in CMakeLists.txt); the product's
// objects are what everybody links.
#define FIRN_SIM_FIND_COMMIT                                                                               \
  "_ZN4firn6commit10FindCommitERKNS_7iceberg13TableMetadataESt17basic_string_viewIcSt11char_traitsIcEES8_" \
  "S8_St8optionalIlE"
#define FIRN_SIM_ADVANCE                                                                           \
  "_ZN4firn6commit7AdvanceESt3mapINS_6record15SourcePartitionENS2_17PartitionPositionESt4lessIS3_" \
  "ESaISt4pairIKS3_S4_"                                                                            \
  "EEERKS1_IS3_NS2_13PositionRangeES6_SaIS7_IS8_SC_EEE"
#define FIRN_SIM_COMMIT_BATCH "_ZN4firn6commit9Committer11CommitBatchERKNS0_10TableBatchESt10stop_token"

namespace firn::sim {

namespace {

using commit::CommitOutcome;
using commit::CommitSearch;
using commit::Committer;
using commit::TableBatch;
using iceberg::TableMetadata;
using record::PositionRanges;
using record::Positions;

}  // namespace

Mutation MutationScope::active = Mutation::kNone;

CommitSearch RealFindCommit(const TableMetadata& table, std::string_view branch, std::string_view pipeline_id,
                            std::string_view commit_id,
                            std::optional<int64_t> parent) __asm__("__real_" FIRN_SIM_FIND_COMMIT);
CommitSearch FindCommitHere(const TableMetadata& table, std::string_view branch, std::string_view pipeline_id,
                            std::string_view commit_id,
                            std::optional<int64_t> parent) __asm__("__wrap_" FIRN_SIM_FIND_COMMIT);
CommitSearch FindCommitHere(const TableMetadata& table, std::string_view branch, std::string_view pipeline_id,
                            std::string_view commit_id, std::optional<int64_t> parent) {
  if (MutationScope::active == Mutation::kSkipAncestorSearch) return commit::CommitAbsent{};
  return RealFindCommit(table, branch, pipeline_id, commit_id, parent);
}

Positions RealAdvance(Positions positions, const PositionRanges& ranges) __asm__("__real_" FIRN_SIM_ADVANCE);
Positions AdvanceHere(Positions positions, const PositionRanges& ranges) __asm__("__wrap_" FIRN_SIM_ADVANCE);
Positions AdvanceHere(Positions positions, const PositionRanges& ranges) {
  Positions advanced = RealAdvance(std::move(positions), ranges);
  if (MutationScope::active == Mutation::kDropOthersPartitions)
    std::erase_if(advanced, [&](const auto& entry) { return !ranges.contains(entry.first); });
  return advanced;
}

CommitOutcome RealCommitBatch(Committer* self, const TableBatch& batch,
                              std::stop_token abort) __asm__("__real_" FIRN_SIM_COMMIT_BATCH);
CommitOutcome CommitBatchHere(Committer* self, const TableBatch& batch,
                              std::stop_token abort) __asm__("__wrap_" FIRN_SIM_COMMIT_BATCH);
CommitOutcome CommitBatchHere(Committer* self, const TableBatch& batch, std::stop_token abort) {
  if (MutationScope::active != Mutation::kAdvanceBeforeCommit)
    return RealCommitBatch(self, batch, std::move(abort));
  CommitOutcome advanced = RealCommitBatch(self, {batch.ranges, {}, batch.observed}, abort);
  if (!std::holds_alternative<commit::Committed>(advanced)) return advanced;
  TableBatch rows{batch.ranges, batch.files, {}};
  for (auto& [partition, range] : rows.ranges) range.from = range.to;
  return RealCommitBatch(self, rows, std::move(abort));
}

}  // namespace firn::sim
