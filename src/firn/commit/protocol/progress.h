#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/iceberg/model/table_metadata.h"
#include "firn/record/position.h"

namespace firn::commit {

/// What the table property `firn.progress.<id>` says: where the pipeline stands in this table. It moves only
/// in a commit that adds a snapshot, and is rebuilt on every try from the state being replaced (product.md,
/// "What a commit carries").
struct Progress {
  std::string table_uuid;  ///< of the table it was written for: a copied property is noticed
  std::string branch;
  int64_t snapshot_id = 0;      ///< of the commit that wrote it
  int64_t sequence_number = 0;  ///< of that snapshot
  int64_t epoch = 0;  ///< count of this pipeline's commits to this table; 0 is the marker of the start
  std::string commit_id;
  record::Positions positions;  ///< of every source partition of the pipeline
  bool operator==(const Progress&) const = default;
};

/// `firn.progress.<pipeline>`, with `@branch` when it is not main.
std::string ProgressKey(std::string_view pipeline_id, std::string_view branch);

/// Compact JSON, one line. Decode: kCorrupt with the reason.
std::string EncodeProgress(const Progress& progress);
Result<Progress> DecodeProgress(std::string_view text);

/// Positions alone, as a progress property holds them. Decode: kCorrupt with the reason.
std::string EncodePositionMap(const record::Positions& positions);
Result<record::Positions> DecodePositionMap(std::string_view text);

/// The pipeline's progress in this metadata; empty when it has none.
Result<std::optional<Progress>> FindProgress(const iceberg::TableMetadata& table,
                                             std::string_view pipeline_id, std::string_view branch);

/// Snapshot summary keys of our commits.
inline constexpr char kSummaryPipeline[] = "firn.pipeline";
inline constexpr char kSummaryCommitId[] = "firn.commit-id";
inline constexpr char kSummaryEpoch[] = "firn.epoch";
inline constexpr char kSummaryRanges[] = "firn.ranges";
inline constexpr char kSummaryValidThrough[] = "firn.valid-through";
/// On snapshots with which an operator set the positions (`firn offsets`): what was said.
inline constexpr char kSummaryOperator[] = "firn.operator";
/// Table property on tables that Firn created: `true`. Only those are maintained unasked (invariant 7).
inline constexpr char kCreatedByFirn[] = "firn.created";

/// The ranges of a batch as `firn.ranges` carries them: {"topic":{"0":[from,to]}}. With a small map (at most
/// kWholeMapPartitions) the partitions that did not move are in it too as [at,at], and "*" is true; never
/// where positions have cursors, without which a number says nothing.
inline constexpr size_t kWholeMapPartitions = 64;
std::string EncodeRanges(const record::PositionRanges& ranges, const record::Positions& merged);
/// The positions after the commit if the text holds the whole map, empty otherwise.
Result<std::optional<record::Positions>> DecodeWholeMap(std::string_view ranges);

/// 128-bit hash (hex) of pipeline id, table UUID, branch and the sorted non-empty ranges: the same batch has
/// the same id in every try.
std::string CommitId(std::string_view pipeline_id, std::string_view table_uuid, std::string_view branch,
                     const record::PositionRanges& ranges);

}  // namespace firn::commit
