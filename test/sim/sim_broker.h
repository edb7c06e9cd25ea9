#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "firn/source/memory/memory_source.h"
#include "sim/faults.h"

namespace firn::sim {

class SimSource;

/// A broker: a log, and a consumer group that shares its partitions out among the members, anew whenever one
/// comes or goes or the world wishes it. A member that does not ask for events for a session loses what it
/// has.
class SimBroker {
 public:
  SimBroker(Scheduler& scheduler, std::shared_ptr<source::MemoryLog> log,
            std::vector<record::SourcePartition> partitions)
      : scheduler_(scheduler), log_(std::move(log)), partitions_(std::move(partitions)) {}

  source::MemoryLog& log() { return *log_; }
  std::shared_ptr<source::MemoryLog> shared_log() { return log_; }
  const std::vector<record::SourcePartition>& partitions() const { return partitions_; }

  void Join(SimSource* member);
  void Leave(SimSource* member);
  /// The same without a word: what it had is nobody's until its session ends.
  void Vanish(SimSource* member);
  void Released(SimSource* member, const std::vector<record::SourcePartition>& partitions);
  /// Draws who should have what; owners are asked to give up what goes to others.
  void Rebalance();
  /// The member is alive.
  void Heard(SimSource* member);
  /// Sessions that have ended.
  void Expire();

 private:
  struct Share {
    SimSource* owner = nullptr;
    SimSource* wanted = nullptr;
    bool asked = false;           ///< the owner knows that it is to give it up
    int64_t nobody_until_ms = 0;  ///< its owner was killed, and only the end of the session tells
  };
  void Settle();

  Scheduler& scheduler_;
  const std::shared_ptr<source::MemoryLog> log_;
  const std::vector<record::SourcePartition> partitions_;
  std::vector<SimSource*> members_;  ///< in the order in which they came
  std::map<record::SourcePartition, Share> shares_;
};

/// What a process reads from: a member of the group, or in a bounded run a reader of everything.
class SimSource final : public source::Source {
 public:
  SimSource(SimBroker& broker, Network& network, int lanes)
      : broker_(broker), network_(network), process_(network.scheduler().process()), lanes_(lanes) {}
  ~SimSource() override { Close(); }

  Status Open() override { return network_.Pass(0); }
  Result<std::map<record::SourcePartition, source::PartitionBounds>> ListPartitions() override;
  Result<std::map<record::SourcePartition, source::PartitionBounds>> Bounds(
      const std::vector<record::SourcePartition>& partitions) override;
  Result<record::Positions> ResolveStart(const std::vector<record::SourcePartition>& partitions) override;
  Result<std::optional<record::Fingerprint>> FingerprintBefore(const record::SourcePartition& partition,
                                                               int64_t position) override;
  Result<std::vector<std::string>> GroupNotes() override { return broker_.log().group_notes(); }
  Status Subscribe(bool bounded) override;
  Result<std::vector<source::SourceEvent>> PollControl(int timeout_ms) override;
  Status Start(const record::Positions& positions) override;
  Status Release(const std::vector<record::SourcePartition>& partitions) override;
  Status Seek(const record::Positions& positions) override { return Start(positions); }
  void Acknowledge(const record::Positions& positions, const std::string& note) override;
  void Close() override;
  Result<std::vector<record::RawBatch>> Poll(int lane, const source::PollBudget& budget) override;
  int64_t prefetched_bytes() const override { return 0; }

  // --- for the broker

  void Tell(source::SourceEvent event) { events_.push_back(std::move(event)); }
  int64_t heard_ms = 0;
  bool out = false;  ///< thrown out of the group: finds out when it asks

 private:
  SimBroker& broker_;
  Network& network_;
  Process* const process_;
  const int lanes_;
  bool member_ = false;
  bool rejoins_ = false;
  std::vector<source::SourceEvent> events_;
  std::map<record::SourcePartition, int64_t> next_;
  std::set<record::SourcePartition> held_;  ///< told of, and not released
};

}  // namespace firn::sim
