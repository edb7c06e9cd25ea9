#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/table_metadata.h"
#include "firn/record/position.h"

namespace firn::commit {

/// What is known when a pipeline starts on a table (product.md, "Where a pipeline resumes").
struct ResumeFacts {
  const iceberg::TableMetadata* table = nullptr;
  std::string pipeline_id;
  std::string branch;
  record::SourceIdentity source;         ///< cluster now (topic_id unused)
  std::vector<std::string> topics;       ///< topics now matched
  std::vector<std::string> group_notes;  ///< `firn/<table uuid>/<epoch>` found in the group's offsets
  bool first_run_allowed = false;        ///< --first-run
  std::string adopt;                     ///< --adopt OLD
};

/// Nothing of ours: the resolved start is committed as a marker before anything is read.
struct ResumeFirstRun {};
struct ResumeAt {
  record::Positions positions;
  int64_t epoch = 0;
  std::string how;  ///< for the log: "at its snapshot", "its snapshot has expired", "from the ancestor's
                    ///< ranges", "adopted from X"
};
/// Going on would lose or double rows: exit 3 with what was found and what to decide.
struct ResumeStop {
  std::string found;
  std::string remedy;
};
using ResumeDecision = std::variant<ResumeFirstRun, ResumeAt, ResumeStop>;

ResumeDecision DecideResume(const ResumeFacts& facts);

/// What the log says about a partition we hold a position for.
struct LogFacts {
  int64_t first = 0;
  std::optional<int64_t> end = 0;  ///< empty: the log does not tell
  record::SourceIdentity identity;
  /// Fingerprint of the record before our position as it is now; empty when that record is no longer (or not)
  /// there.
  std::optional<record::Fingerprint> before;
};
struct PartitionContinue {
  int64_t next = 0;
};
/// The log was trimmed past our position: `on_data_loss` decides. Missing: [from, to).
struct PartitionTrimmed {
  int64_t from = 0;
  int64_t to = 0;
};
/// Topic or cluster is not the one we read.
struct PartitionRecreated {
  std::string why;
};
using PartitionCheck = std::variant<PartitionContinue, PartitionTrimmed, PartitionRecreated>;

PartitionCheck CheckPartition(const record::PartitionPosition& position, const LogFacts& log);

/// The note stored with group offsets: a tripwire for dropped or re-created tables, never a position.
std::string GroupNote(std::string_view table_uuid, int64_t epoch);

}  // namespace firn::commit
