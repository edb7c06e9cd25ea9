#include "firn/iceberg/scan/table_scan.h"

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <map>
#include <utility>

#include "firn/base/text_distance.h"
#include "firn/iceberg/model/property.h"
#include "firn/iceberg/scan/data_file_reader.h"
#include "firn/iceberg/scan/name_mapping.h"
#include "firn/iceberg/scan/position_deletes.h"
#include "firn/iceberg/scan/projection.h"
#include "firn/iceberg/scan/row_filter.h"

namespace firn::iceberg {

namespace {

Error NoColumn(const std::string& name, const Schema& schema) {
  std::vector<std::string> known;
  VisitFields(*schema.as_struct(),
              [&](const NestedField& field) { known.push_back(schema.FullName(field.id)); });
  Error error(ErrorKind::kNotFound, "there is no column '" + name + "'");
  const auto nearest = NearestName(name, known);
  if (!nearest.has_value()) return error;
  return std::move(error).WithRemedy("Did you mean '" + *nearest + "'?");
}

/// A snapshot and whether it is read with its own schema (history) or the table's current one (a branch).
struct Selection {
  const Snapshot* snapshot = nullptr;
  bool history = true;
};

Result<Selection> SelectId(const TableMetadata& table, int64_t snapshot_id) {
  const Snapshot* snapshot = table.FindSnapshot(snapshot_id);
  if (snapshot != nullptr) return Selection{snapshot};
  return Error(ErrorKind::kNotFound, "the table has no snapshot " + std::to_string(snapshot_id));
}

Result<Selection> SelectTime(const TableMetadata& table, int64_t time_ms) {
  const SnapshotLogEntry* last = nullptr;
  for (const SnapshotLogEntry& entry : table.snapshot_log) {
    if (entry.timestamp_ms <= time_ms) last = &entry;
  }
  const Snapshot* snapshot = last == nullptr ? nullptr : table.FindSnapshot(last->snapshot_id);
  if (snapshot != nullptr) return Selection{snapshot};
  return Error(ErrorKind::kNotFound, "the table has no snapshot that was current at that time");
}

Result<Selection> SelectRef(const TableMetadata& table, const std::string& ref) {
  const auto found = table.refs.find(ref);
  if (found == table.refs.end() && ref != kMainBranch) {
    return Error(ErrorKind::kNotFound, "the table has no branch or tag '" + ref + "'");
  }
  return Selection{table.Head(ref), found != table.refs.end() && found->second.type == RefType::kTag};
}

Result<Selection> SelectSnapshot(const TableMetadata& table, const ScanOptions& options) {
  const int choices = static_cast<int>(options.snapshot_id.has_value()) +
                      static_cast<int>(options.as_of_ms.has_value()) + static_cast<int>(!options.ref.empty());
  if (choices > 1)
    return Error(ErrorKind::kInvalidArgument, "give one of snapshot, time and ref, not several");
  if (options.snapshot_id.has_value()) return SelectId(table, *options.snapshot_id);
  if (options.as_of_ms.has_value()) return SelectTime(table, *options.as_of_ms);
  return SelectRef(table, options.ref.empty() ? kMainBranch : options.ref);
}

std::map<int32_t, Literal> IdentityValues(const PartitionSpec& spec, const PartitionValues& partition) {
  std::map<int32_t, Literal> values;
  for (size_t i = 0; i < spec.fields.size() && i < partition.values.size(); ++i) {
    if (spec.fields[i].transform.kind() == TransformKind::kIdentity) {
      values.emplace(spec.fields[i].source_id, partition.values[i]);
    }
  }
  return values;
}

/// Everything the stream of one scan shares over its files.
struct StreamContext {
  std::shared_ptr<const TableMetadata> table;
  std::shared_ptr<store::Store> store;
  SchemaPtr schema;
  SchemaPtr read_schema;
  std::optional<NameMapping> name_mapping;
  RowFilter filter;
  bool filtered = false;
  int64_t batch_rows = 0;
  arrow::MemoryPool* pool = nullptr;
};

class ScanStream : public RowStream {
 public:
  ScanStream(StreamContext context, std::vector<ScanTask> tasks, std::optional<int64_t> limit)
      : context_(std::move(context)), tasks_(std::move(tasks)), left_(limit.value_or(INT64_MAX)) {}

  Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (left_ > 0) {
      if (reader_ == nullptr) {
        if (next_ == tasks_.size()) break;
        FIRN_TRY(OpenFile(tasks_[next_++]));
      }
      FIRN_ASSIGN(auto rows, NextOfFile());
      if (rows == nullptr) {
        reader_.reset();
      } else if (rows->num_rows() > 0) {
        return Limited(std::move(rows));
      }
    }
    return std::shared_ptr<arrow::RecordBatch>();
  }

 private:
  Status OpenFile(const ScanTask& task) {
    if (!IsParquetFile(task.file)) {
      return Error(ErrorKind::kUnsupported, "data file " + task.file.file_path + " is " +
                                                task.file.file_format + "; Firn reads Parquet only");
    }
    FIRN_ASSIGN(deletes_,
                PositionDeletes::Read(*context_.store, task.file.file_path, task.deletes, context_.pool));
    DataFileReadOptions options;
    options.schema = context_.read_schema;
    if (const PartitionSpec* spec = context_.table->FindSpec(task.file.spec_id)) {
      options.constants = IdentityValues(*spec, task.file.partition);
    }
    options.name_mapping = context_.name_mapping ? &*context_.name_mapping : nullptr;
    options.batch_rows = context_.batch_rows;
    options.pool = context_.pool;
    FIRN_ASSIGN(reader_, DataFileReader::Open(*context_.store, task.file.file_path, std::move(options)));
    return Ok();
  }

  Result<std::shared_ptr<arrow::RecordBatch>> NextOfFile() {
    const int64_t first = reader_->position();
    FIRN_ASSIGN(auto rows, reader_->Next());
    if (rows == nullptr) return rows;
    if (context_.filtered || !deletes_.empty()) {
      FIRN_ASSIGN(RowMask mask, context_.filter.Evaluate(*rows, context_.pool));
      deletes_.Apply(first, mask);
      FIRN_ASSIGN(rows, KeepRows(rows, mask, context_.pool));
    }
    if (context_.read_schema == context_.schema) return rows;
    return SelectFields(*rows, *context_.read_schema, *context_.schema, context_.pool);
  }

  std::shared_ptr<arrow::RecordBatch> Limited(std::shared_ptr<arrow::RecordBatch> rows) {
    if (rows->num_rows() > left_) rows = rows->Slice(0, left_);
    left_ -= rows->num_rows();
    return rows;
  }

  StreamContext context_;
  std::vector<ScanTask> tasks_;
  size_t next_ = 0;
  int64_t left_;
  std::unique_ptr<DataFileReader> reader_;
  PositionDeletes deletes_;
};

}  // namespace

Result<TableScan> TableScan::Make(std::shared_ptr<const TableMetadata> table,
                                  std::shared_ptr<store::Store> store, ScanOptions options) {
  TableScan scan;
  scan.table_ = std::move(table);
  scan.store_ = std::move(store);
  scan.options_ = std::move(options);
  if (scan.options_.pool == nullptr) scan.options_.pool = arrow::default_memory_pool();
  FIRN_TRY(scan.Select());
  FIRN_TRY(scan.Bind());
  return scan;
}

Status TableScan::Select() {
  FIRN_ASSIGN(const Selection selection, SelectSnapshot(*table_, options_));
  snapshot_ = selection.snapshot;
  whole_ = table_->schema();
  if (selection.history && snapshot_ != nullptr && snapshot_->schema_id.has_value()) {
    if (SchemaPtr schema = table_->FindSchema(*snapshot_->schema_id)) whole_ = std::move(schema);
  }
  return Ok();
}

Status TableScan::Bind() {
  filter_ = Filter::True();
  if (!options_.where.empty()) {
    FIRN_ASSIGN_CTX(filter_, ParseFilter(options_.where, *whole_), "filter");
  }
  std::vector<int32_t> ids;
  for (const std::string& name : options_.columns) {
    const NestedField* field = whole_->FindByName(name);
    if (field == nullptr) return NoColumn(name, *whole_);
    ids.push_back(field->id);
  }
  if (ids.empty()) {
    schema_ = read_schema_ = whole_;
    return Ok();
  }
  schema_ = read_schema_ = PruneSchema(*whole_, ids);
  const std::vector<int32_t> filtered = filter_->FieldIds();
  if (std::all_of(filtered.begin(), filtered.end(),
                  [&](int32_t id) { return schema_->FindById(id) != nullptr; })) {
    return Ok();
  }
  ids.insert(ids.end(), filtered.begin(), filtered.end());
  read_schema_ = PruneSchema(*whole_, ids);
  return Ok();
}

Result<ScanPlan> TableScan::Plan() const {
  if (snapshot_ == nullptr) return ScanPlan{};
  return PlanFiles(*store_, *table_, *snapshot_, *filter_);
}

Result<std::unique_ptr<RowStream>> TableScan::Read() const {
  FIRN_ASSIGN(auto plan, Plan());
  return Read(std::move(plan));
}

Result<std::unique_ptr<RowStream>> TableScan::Read(ScanPlan plan) const {
  StreamContext context;
  context.table = table_;
  context.store = store_;
  context.schema = schema_;
  context.read_schema = read_schema_;
  if (const auto mapping = FindProperty(table_->properties, property::kNameMapping)) {
    FIRN_ASSIGN(context.name_mapping, ParseNameMapping(*mapping));
  }
  FIRN_ASSIGN(context.filter, RowFilter::Make(filter_, *read_schema_));
  context.filtered = filter_->kind() != Filter::Kind::kTrue;
  context.batch_rows = options_.batch_rows;
  context.pool = options_.pool;
  return std::unique_ptr<RowStream>(
      std::make_unique<ScanStream>(std::move(context), std::move(plan.tasks), options_.limit));
}

}  // namespace firn::iceberg
