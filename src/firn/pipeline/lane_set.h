#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "firn/base/result.h"
#include "firn/pipeline/lane.h"
#include "firn/pipeline/lane_maker.h"
#include "firn/pipeline/read_ledger.h"

namespace firn::pipeline {

/// What all lanes hand over with one cut.
struct SharedCut {
  std::vector<LaneCut::Part> parts;
  std::map<uint32_t, commit::PendingFrom> left_out;  ///< by table, first position per partition
  /// kInternal when what a lane read does not join what it had read before; the parts are there all the same.
  Status joins = Ok();
};

/// The lanes of the read that feeds every table, and how far it has come (ReadLedger). Owns and joins them.
/// Control thread only.
class LaneSet {
 public:
  /// Makes and starts them, paused. On an error those made so far are stopped with the set.
  Status Start(const LaneMaker& maker, source::Source& source, int lanes);
  /// Ends the lanes' threads and discards what they held. Idempotent.
  void Stop();

  /// A short rendezvous with every lane (Lane::RequestCut). Afterwards `read` tells how far they have come.
  SharedCut Cut(const CutOrder& order);
  void Resume(bool drop_waiting);
  /// Back-pressure: holds all lanes back from polling, or lets them go on.
  void Hold(bool hold);
  void Offer(uint32_t target, const TableOffer& offer);

  /// Partitions are read from here on (again); the lanes hold nothing of them.
  void StartAt(const record::Positions& positions) { ledger_->Start(positions); }
  /// The lanes stand still: these partitions are about to be given up.
  void ForgetRead(const std::vector<record::SourcePartition>& partitions) { ledger_->Forget(partitions); }
  /// They were given up at the source: what waits of them is dropped.
  void DropWaiting(const std::vector<record::SourcePartition>& partitions);

  /// The first lane that cannot go on.
  std::optional<Error> error() const;
  std::vector<TableRequest> TakeRequests();
  /// Records are with the lanes that are not given to their tables yet.
  bool waiting() const;
  /// As the last cuts told it.
  const record::Positions& read() const { return ledger_->read(); }
  /// Everything below is committed; `pending`: what left the lanes and is not.
  record::Positions Bound(commit::PendingFrom pending) const { return ledger_->Bound(std::move(pending)); }
  /// Where reading stands right now in each of these partitions.
  std::map<record::SourcePartition, int64_t> Positions(const record::Positions& started) const;

  int64_t rows_total() const;
  int64_t bytes_total() const;
  int64_t filling_tables() const;

 private:
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::unique_ptr<ReadLedger> ledger_;
};

}  // namespace firn::pipeline
