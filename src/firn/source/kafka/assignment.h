#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/record/position.h"
#include "firn/source/kafka/client.h"
#include "firn/source/kafka/lane.h"
#include "firn/source/source.h"

namespace firn::source::kafka {

/// Which partitions are ours, which lane reads each, and the rebalance that waits for an answer. Control
/// thread only.
///
/// A rebalance is answered to librdkafka only when the pipeline has decided about every partition of it
/// (Start or Release); until then the group waits, and librdkafka fetches nothing for any partition. With
/// each answer the partitions that stay are sought to where their readers stand: librdkafka resumes behind an
/// end-of-partition event as if that had been a record, which would skip one.
class Assignment {
 public:
  Assignment(Client& client, std::vector<std::unique_ptr<Lane>>& lanes) : client_(client), lanes_(lanes) {}

  /// A rebalance arrived (in a bounded run: all partitions at once). Empty where nothing is to be told.
  std::optional<SourceEvent> OnAssigned(const std::vector<record::SourcePartition>& partitions);
  std::optional<SourceEvent> OnRevoked(const std::vector<record::SourcePartition>& partitions, bool lost);

  Status Start(const record::Positions& positions);
  Status Release(const std::vector<record::SourcePartition>& partitions);
  Status Seek(const record::Positions& positions);
  /// Reads a partition again from where its reader stands, after librdkafka gave it up.
  Status Resume(const record::SourcePartition& partition);

  /// Takes nothing more from these partitions until they are sought.
  void Stop(const std::string& topic);
  /// Next position of a partition that is being read.
  std::optional<int64_t> next(const record::SourcePartition& partition) const;
  /// Everything was lost, and librdkafka's client with it: forgets what was held, and returns it.
  std::vector<record::SourcePartition> Abandon();
  /// Gives everything up and leaves the group, waiting up to `timeout_ms` for it.
  void Close(int timeout_ms);

 private:
  enum class Pending : uint8_t { kNone, kAssign, kRevoke };
  using Partitions = std::vector<record::SourcePartition>;

  std::vector<Lane::Hold> HoldLanes();
  Lane& LeastLoaded();
  Status FinishAssign();
  Status FinishRevoke();
  Status AssignInLibrary(const Partitions& partitions);
  Status UnassignInLibrary(const Partitions& partitions);
  /// Waits until librdkafka has stopped these; only then may they be forwarded again.
  void AwaitStop(const Partitions& partitions);
  Status SeekInLibrary(const Partitions& partitions);
  Status RestartLagging();
  Partitions ReadingWithout(const record::Positions& excluded) const;
  void AnswerWhileClosing(rd_kafka_event_t* event);

  Client& client_;
  std::vector<std::unique_ptr<Lane>>& lanes_;
  std::map<record::SourcePartition, Lane*> reading_;  ///< begun, and in librdkafka's assignment
  Pending pending_ = Pending::kNone;
  std::set<record::SourcePartition> undecided_;  ///< of the pending rebalance
  record::Positions starting_;                   ///< decided to start, waiting for the others
  Partitions leaving_;                           ///< decided to go, waiting for the others
  std::set<record::SourcePartition> lagging_;    ///< librdkafka could not seek them: to be assigned anew
};

}  // namespace firn::source::kafka
