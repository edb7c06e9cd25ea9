#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/pipeline/catch_up.h"
#include "firn/pipeline/lane_maker.h"
#include "firn/pipeline/pipeline.h"
#include "firn/pipeline/table_set.h"
#include "firn/runtime/executor.h"

namespace firn::pipeline {

/// What became of one table's own read since the last time.
struct OwnReadNews {
  enum class Stage : uint8_t {
    kReading,
    kNear,     ///< it is as far as the shared read: to be joined
    kReached,  ///< it has come to where the lanes give the table its records again: to be ended
  };
  TableRun* table = nullptr;
  std::vector<TableRequest> requests;
  Stage stage = Stage::kReading;
  std::optional<Error> failed;  ///< the end of the table
};

/// The reads of tables that left the shared read and catch up, a few at a time (CatchUp). Connecting runs on
/// the committers' pool. Control thread only.
class OwnReads {
 public:
  OwnReads(const PipelineDeps& deps, const LaneMaker& maker, runtime::Executor& committers,
           std::string pipeline_id);
  ~OwnReads();
  OwnReads(const OwnReads&) = delete;
  OwnReads& operator=(const OwnReads&) = delete;

  /// Begins reads for tables that are behind in partitions that are ours. `started`: those partitions.
  void Begin(const TableSet& tables, const record::Positions& started);
  /// `shared`: how far the shared read has come.
  std::vector<OwnReadNews> Serve(const record::Positions& shared);

  bool empty() const { return reads_.empty(); }
  std::vector<uint32_t> tables() const;
  /// The table's view has changed.
  void Offer(const TableRun& table);
  /// Gives the table what its read has filled; with `pause` the read then stands still. Without a lane yet:
  /// nothing.
  Status CutInto(TableRun& table, bool pause);
  /// Both reads stand still: the lanes give the table its records again from where the further one is, and
  /// its own read goes as far as that.
  void Join(TableRun& table, const record::Positions& shared);
  /// The table's read is over, or given up because the table failed.
  void End(uint32_t table) { reads_.erase(table); }
  /// Gives reads of these partitions up; their tables stay behind. Returns the tables.
  std::vector<TableRun*> GiveUp(const std::vector<record::SourcePartition>& partitions);
  std::vector<TableRun*> GiveUpAll();

 private:
  struct OwnRead {
    TableRun* table = nullptr;
    std::optional<runtime::Future<Result<std::unique_ptr<source::Source>>>> connecting;
    record::Positions from;
    std::unique_ptr<CatchUp> read;
  };

  /// False: not there yet, or it is over.
  bool FinishConnecting(OwnRead& own, OwnReadNews& news);
  Status StartReading(OwnRead& own, std::unique_ptr<source::Source> source);
  static Status ServeOne(OwnRead& own, const record::Positions& shared, OwnReadNews& news);
  static TableRun* GiveUp(OwnRead& own);
  static record::Positions From(const TableRun& table, const record::Positions& started);

  const PipelineDeps& deps_;
  const LaneMaker& maker_;
  runtime::Executor& committers_;
  const std::string pipeline_id_;
  std::map<uint32_t, OwnRead> reads_;
};

}  // namespace firn::pipeline
