#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/protocol/shared_read.h"
#include "firn/pipeline/lane.h"
#include "firn/pipeline/pipeline.h"
#include "firn/source/source.h"

namespace firn::pipeline {

/// A read of its own for one table that left the shared read: a source and a lane that give this table its
/// records from where it stands on. When it has come as far as the shared read, both stand still for a
/// moment, the table takes part in the shared read from there on (`Join`), and this read goes as far as that
/// and ends. Control thread only.
class CatchUp {
 public:
  /// Connects; may take a while.
  static Result<std::unique_ptr<source::Source>> Connect(const PipelineDeps& deps,
                                                         const record::Positions& from);

  /// The same, before Start: the source holds these partitions alone.
  static Result<std::unique_ptr<source::Source>> Subscribe(const PipelineDeps& deps,
                                                           const record::Positions& from);

  CatchUp(std::unique_ptr<source::Source> source, record::Positions from);
  ~CatchUp();

  /// `lane`: of the source of this read, not started (LaneMaker::ForOne).
  void Start(std::unique_ptr<Lane> lane, uint32_t target, TableOffer offer);
  /// Serves source and lane. An error is the end of the table.
  Status Serve();
  std::vector<TableRequest> TakeRequests() { return lane_->TakeRequests(); }
  void Offer(const TargetPtr& target, TableOffer offer) { lane_->Offer(target->id, std::move(offer)); }

  /// What the lane filled; with `pause` it then stands still.
  Result<BatchPart> Cut(const TargetPtr& target, bool pause);
  /// Whether it has come as far as the shared read in all its partitions.
  bool Near(const record::Positions& read) const;
  /// The lane stands still: it goes as far as the further one of both reads, which this returns.
  std::map<record::SourcePartition, int64_t> Join(const record::Positions& read);
  bool joined() const { return !ends_.empty(); }
  bool Reached() const;
  /// Where this read stands.
  record::Positions positions() const;
  bool reads(const record::SourcePartition& partition) const { return from_.contains(partition); }
  int64_t rows_total() const { return lane_->rows_total(); }

 private:
  std::unique_ptr<source::Source> source_;
  record::Positions from_;
  std::map<record::SourcePartition, int64_t> ends_;
  std::unique_ptr<Lane> lane_;
};

}  // namespace firn::pipeline
