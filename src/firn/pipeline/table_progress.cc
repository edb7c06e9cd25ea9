#include "firn/pipeline/table_progress.h"

#include <utility>

#include "firn/obs/log.h"

namespace firn::pipeline {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kTroubleShowsMs = 10'000;

}  // namespace

TableProgress::TableProgress(std::string pipeline_id, std::string table, bool sole, StatusBoard& status,
                             PipelineMetrics& pipeline_metrics, obs::Metrics& metrics, runtime::Clock& clock)
    : pipeline_id_(std::move(pipeline_id)),
      table_(std::move(table)),
      sole_(sole),
      status_(status),
      pipeline_metrics_(pipeline_metrics),
      clock_(clock) {
  if (table_.empty()) return;
  metrics_.emplace(metrics, pipeline_id_, table_);
  Publish([](TableStatus& s) { s.state = PipelineState::kStarting; });
}

void TableProgress::Running() {
  trouble_until_ns_ = 0;
  Publish([](TableStatus& s) {
    s.state = PipelineState::kRunning;
    s.reason.clear();
  });
}

void TableProgress::Trouble(const Error& error) {
  trouble_until_ns_ = clock_.MonotonicNs() + kTroubleShowsMs * kNsPerMs;
  Publish([&](TableStatus& s) {
    s.state = PipelineState::kDegraded;
    s.reason = error.ToString();
  });
}

void TableProgress::ForgetOldTrouble() {
  if (trouble_until_ns_ > 0 && clock_.MonotonicNs() > trouble_until_ns_) Running();
}

void TableProgress::Failed(const Error& error) {
  obs::Log(obs::Level::kError, "table failed; the others go on",
           {{"pipeline", pipeline_id_}, {"table", table_}, {"error", error}});
  trouble_until_ns_ = 0;
  Publish([&](TableStatus& s) {
    s.state = PipelineState::kFailed;
    s.reason = error.ToString();
  });
}

void TableProgress::Opened(const std::string& how, const std::vector<std::string>& notes) {
  for (const std::string& note : notes)
    obs::Log(obs::Level::kWarning, "inferred columns: " + note,
             {{"pipeline", pipeline_id_}, {"table", table_}});
  obs::Log(obs::Level::kInfo, "table opened", {{"pipeline", pipeline_id_}, {"table", table_}, {"how", how}});
}

void TableProgress::SchemaChanged(const std::string& change) {
  metrics_->SchemaChanged();
  obs::Log(obs::Level::kInfo, "schema changed",
           {{"pipeline", pipeline_id_}, {"table", table_}, {"change", change}});
}

void TableProgress::ChangeRefused(const record::RefusedChange& refused) {
  obs::Log(obs::Level::kWarning, "schema change refused; records that need it follow on_bad_record",
           {{"pipeline", pipeline_id_}, {"table", table_}, {"field", refused.name}, {"why", refused.why}});
}

void TableProgress::At(const iceberg::LoadedTable& table, const record::Positions& positions) {
  Publish([&](TableStatus& s) {
    s.metadata_location = table.metadata_location;
    s.positions = positions;
  });
  if (sole_) status_.Write([&](PipelineStatus& s) { s.metadata_location = table.metadata_location; });
}

void TableProgress::Batch(const BatchReport& report, int64_t filled_ms) {
  if (metrics_) metrics_->Batch(report);
  pipeline_metrics_.Batch(report, filled_ms);
}

void TableProgress::LettersCommitted(const BatchReport& report) {
  status_.Write([&](PipelineStatus& s) {
    s.dead_letters += report.dead_letters;
    s.skipped += report.skipped;
    s.tombstones_skipped += report.tombstones_skipped;
  });
}

void TableProgress::Committed(const BatchReport& report, const iceberg::LoadedTable& table,
                              int64_t snapshot_id, int64_t epoch) {
  obs::Log(obs::Level::kInfo, "batch committed",
           {{"pipeline", pipeline_id_},
            {"table", table_},
            {"snapshot", snapshot_id},
            {"epoch", epoch},
            {"rows", report.rows},
            {"files", report.data_files},
            {"bytes", report.data_file_bytes},
            {"dead_letters", report.dead_letters},
            {"finish_ms", report.finish_ms},
            {"commit_ms", report.commit_ms}});
  const int64_t now_ms = clock_.NowMs();
  metrics_->Committed(now_ms);
  if (report.metadata_bytes) WatchMetadata(*report.metadata_bytes, table);
  const auto* committed = std::get_if<commit::Committed>(&*report.outcome);
  status_.Write([&](PipelineStatus& s) {
    s.conflicts += committed == nullptr ? 0 : committed->tries - 1;
    s.rows_committed += report.rows;
    s.dead_letters += report.dead_letters;
    s.skipped += report.skipped;
    s.tombstones_skipped += report.tombstones_skipped;
    s.unknown_fields_ignored += report.unknown_fields_ignored;
    s.data_files += report.data_files;
    ++s.commits;
    s.last_commit_ms = now_ms;
    s.last_commit_took_ms = report.finish_ms + report.commit_ms;
    s.last_snapshot_id = snapshot_id;
    s.metadata_location = table.metadata_location;
  });
  Publish([&](TableStatus& s) {
    s.rows_committed += report.rows;
    s.dead_letters += report.dead_letters;
    ++s.commits;
    s.last_commit_ms = now_ms;
    s.last_snapshot_id = snapshot_id;
  });
}

// Told once, before readers feel it.
void TableProgress::WatchMetadata(int64_t bytes, const iceberg::LoadedTable& table) {
  metrics_->MetadataBytes(bytes);
  if (!metadata_watch_.Saw(bytes)) return;
  obs::Log(obs::Level::kWarning,
           "the table's metadata is large; expire snapshots, or shorten history.expire.max-snapshot-age-ms",
           {{"pipeline", pipeline_id_},
            {"table", table_},
            {"bytes", bytes},
            {"snapshots", table.metadata->snapshots.size()}});
}

void TableProgress::Publish(const std::function<void(TableStatus&)>& change) {
  if (table_.empty()) return;
  status_.Write([&](PipelineStatus& s) {
    TableStatus& table = s.tables[table_];
    table.name = table_;
    change(table);
  });
}

}  // namespace firn::pipeline
