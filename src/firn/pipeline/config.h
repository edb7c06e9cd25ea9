#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "firn/decode/decoder.h"
#include "firn/route/router.h"

namespace firn::pipeline {

/// One declared column of `tables[].columns`.
struct ColumnConfig {
  std::string name;
  std::string type;  ///< `int`, `timestamp`, `list<struct<a: int>>` ...
  std::string from;  ///< field of the record; empty: same name
  bool required = false;
  std::string doc;
  decode::TimeUnit unit = decode::TimeUnit::kNone;  ///< for time-like columns given as epoch numbers
  decode::BytesEncoding encoding = decode::BytesEncoding::kDefault;  ///< of text for columns of bytes
};

/// `catalog.namespace.table` as written in the file.
struct TableName {
  std::string catalog;
  std::vector<std::string> ns;
  std::string name;
  std::string ToString() const;
  bool literal() const { return route::IsLiteral(ToString()); }
};

/// Which records a rule takes; empty: all.
struct MatchConfig {
  std::string topic;                         ///< regular expression for the whole topic
  std::map<std::string, std::string> field;  ///< path -> regular expression for the whole value
};

/// One rule of `tables:`: which records go to a table, and how it is made when it does not exist. `name` may
/// hold placeholders: then the rule makes many tables, each with these settings and a name of its own.
struct TableConfig {
  TableName name;
  MatchConfig match;
  int32_t max_tables = 1000;          ///< that the name's placeholders may make
  std::vector<ColumnConfig> columns;  ///< empty: inferred from a sample (new table) or the table's own
  std::vector<std::string> partition_by;
  std::vector<std::string> sort_by;
  int format_version = 2;
  std::map<std::string, std::string> properties;
  bool create = true;
  std::string branch = "main";
  std::optional<decode::Evolution> schema_evolution;  ///< default: none with declared columns, add without
  decode::UnknownFields unknown_fields = decode::UnknownFields::kIgnore;
  int32_t max_columns = 1000;
  bool kafka_columns = false;  ///< column `_kafka`: position, time, key and headers of each row's record
};

/// A batch is committed when the first of these is reached.
struct CommitConfig {
  int64_t interval_ms = 60'000;
  int64_t max_records = 5'000'000;
  int64_t max_input_bytes = int64_t{512} << 20;
};

enum class BadRecordPolicy : uint8_t { kDeadLetter, kFail, kSkip };
enum class TombstonePolicy : uint8_t { kSkip, kDeadLetter };
enum class OnDataLoss : uint8_t { kFail, kEarliest };

struct DeadLetterConfig {
  TableName table;           ///< default: `<table>_dead_letters` beside the pipeline's table
  bool keep_payload = true;  ///< payload: full | none
  double fail_above_ratio = 0.05;
  int64_t fail_above_min_records = 1000;
};

/// One entry of `pipelines:`, checked. The source's own keys are parsed by its plug-in.
struct PipelineConfig {
  std::string key;                                                ///< under `pipelines:`
  std::string id;                                                 ///< identity of its progress
  std::vector<TableConfig> tables = std::vector<TableConfig>(1);  ///< rules; the first that matches decides
  CommitConfig commit;                                            ///< of each table
  BadRecordPolicy on_bad_record = BadRecordPolicy::kDeadLetter;
  TombstonePolicy tombstones = TombstonePolicy::kSkip;
  int64_t max_record_bytes = int64_t{64} << 20;  ///< key and value
  OnDataLoss on_data_loss = OnDataLoss::kFail;
  bool bounded = false;  ///< the source ends by itself: the run is over when it is caught up
  DeadLetterConfig dead_letters;
  std::string format = "json";  ///< decoder plug-in
};

/// The rules as the router takes them.
std::vector<route::RouteRule> RouteRules(const PipelineConfig& config);

/// `resources:` of the process.
struct ResourceConfig {
  int64_t memory_bytes = 0;  ///< 0: from the cgroup
  int32_t threads = 0;       ///< 0: from the cgroup
};

}  // namespace firn::pipeline
