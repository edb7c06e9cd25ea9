#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "firn/record/dead_letter.h"
#include "firn/runtime/clock.h"
#include "firn/source/source.h"

namespace firn::pipeline {

/// Letters of a dead-letter table by their partition, ascending by offset; none twice.
using LettersByPartition = std::map<record::SourcePartition, std::vector<record::DeadLetter>>;

/// Reads letters as the records they were: the partition, offset, time, key, value and headers of each are
/// the original ones, so that what is made of them keeps its source position. A log that ends; between
/// letters lie the records that were good.
class LetterSource final : public source::Source {
 public:
  /// `cluster_id`: which letters these are; positions in them mean nothing elsewhere.
  LetterSource(std::shared_ptr<const LettersByPartition> letters, std::string cluster_id, int lanes,
               runtime::Clock& clock);

  Status Open() override { return Ok(); }
  Result<std::map<record::SourcePartition, source::PartitionBounds>> ListPartitions() override;
  Result<std::map<record::SourcePartition, source::PartitionBounds>> Bounds(
      const std::vector<record::SourcePartition>& partitions) override;
  Result<record::Positions> ResolveStart(const std::vector<record::SourcePartition>& partitions) override;
  Result<std::optional<record::Fingerprint>> FingerprintBefore(const record::SourcePartition& /*partition*/,
                                                               int64_t /*position*/) override {
    return std::optional<record::Fingerprint>{};
  }
  Result<std::vector<std::string>> GroupNotes() override { return std::vector<std::string>{}; }
  Status Subscribe(bool bounded) override;
  Result<std::vector<source::SourceEvent>> PollControl(int timeout_ms) override;
  Status Start(const record::Positions& positions) override;
  Status Release(const std::vector<record::SourcePartition>& partitions) override;
  Status Seek(const record::Positions& positions) override { return Start(positions); }
  void Acknowledge(const record::Positions& /*positions*/, const std::string& /*note*/) override {}
  void Close() override {}
  Result<std::vector<record::RawBatch>> Poll(int lane, const source::PollBudget& budget) override;
  int64_t prefetched_bytes() const override { return 0; }

 private:
  struct Reading {
    int64_t next = 0;
    int lane = 0;
  };

  source::PartitionBounds BoundsOf(const std::vector<record::DeadLetter>& letters) const;
  record::RawBatch Take(const record::SourcePartition& partition, Reading& reading,
                        const source::PollBudget& budget) const;

  const std::shared_ptr<const LettersByPartition> letters_;
  const record::SourceIdentity identity_;
  const int lanes_;
  runtime::Clock& clock_;
  std::mutex mutex_;
  std::vector<source::SourceEvent> events_;
  std::map<record::SourcePartition, Reading> reading_;
};

}  // namespace firn::pipeline
