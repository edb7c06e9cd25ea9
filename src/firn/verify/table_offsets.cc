#include "firn/verify/table_offsets.h"

#include <arrow/api.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "firn/iceberg/scan/table_scan.h"

namespace firn::verify {

namespace {

using record::SourcePartition;

bool Has(const iceberg::Schema& schema, const std::string& name) {
  return schema.FindByName(name) != nullptr;
}

/// A column of a batch by its dotted name, with the structs around it.
class ColumnView {
 public:
  static Result<ColumnView> Find(const arrow::RecordBatch& rows, const std::string& name) {
    ColumnView view;
    if (auto whole = rows.GetColumnByName(name)) {
      view.levels_.push_back(std::move(whole));
      return view;
    }
    size_t begin = 0;
    for (size_t dot = name.find('.');; dot = name.find('.', begin)) {
      const std::string part = name.substr(begin, dot == std::string::npos ? dot : dot - begin);
      auto next = view.levels_.empty()
                      ? rows.GetColumnByName(part)
                      : static_cast<const arrow::StructArray&>(*view.levels_.back()).GetFieldByName(part);
      if (next == nullptr)
        return Error(ErrorKind::kInternal, fmt::format("the rows have no column '{}'", name));
      view.levels_.push_back(std::move(next));
      if (dot == std::string::npos) return view;
      if (view.levels_.back()->type_id() != arrow::Type::STRUCT)
        return Error(ErrorKind::kInvalidArgument,
                     fmt::format("'{}' of column '{}' is no struct", part, name));
      begin = dot + 1;
    }
  }

  bool IsNull(int64_t row) const {
    for (const auto& level : levels_) {
      if (level->IsNull(row)) return true;
    }
    return false;
  }
  const arrow::Array& values() const { return *levels_.back(); }

 private:
  std::vector<std::shared_ptr<arrow::Array>> levels_;
};

/// An integer column of either width.
class Integers {
 public:
  static Result<Integers> Make(ColumnView view, const std::string& name) {
    const arrow::Type::type type = view.values().type_id();
    if (type != arrow::Type::INT32 && type != arrow::Type::INT64) {
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("column '{}' is {}, not an integer", name, view.values().type()->ToString()))
          .WithRemedy("Name the column that holds it.");
    }
    Integers integers;
    integers.narrow_ = type == arrow::Type::INT32;
    integers.view_ = std::move(view);
    return integers;
  }
  bool IsNull(int64_t row) const { return view_.IsNull(row); }
  int64_t Value(int64_t row) const {
    return narrow_ ? static_cast<const arrow::Int32Array&>(view_.values()).Value(row)
                   : static_cast<const arrow::Int64Array&>(view_.values()).Value(row);
  }

 private:
  ColumnView view_;
  bool narrow_ = false;
};

/// Adds the rows of batches; neighbours are mostly of one partition.
class Adder {
 public:
  Adder(const PositionColumns& columns, TableOffsets& offsets) : columns_(columns), offsets_(offsets) {}

  Status Add(const arrow::RecordBatch& rows) {
    FIRN_ASSIGN(auto partition_view, ColumnView::Find(rows, columns_.partition));
    FIRN_ASSIGN(const Integers partitions, Integers::Make(std::move(partition_view), columns_.partition));
    FIRN_ASSIGN(auto offset_view, ColumnView::Find(rows, columns_.offset));
    FIRN_ASSIGN(const Integers numbers, Integers::Make(std::move(offset_view), columns_.offset));
    std::optional<ColumnView> topics;
    if (!columns_.topic.empty()) {
      FIRN_ASSIGN(topics, ColumnView::Find(rows, columns_.topic));
      if (topics->values().type_id() != arrow::Type::STRING) {
        return Error(ErrorKind::kInvalidArgument, fmt::format("column '{}' is {}, not text", columns_.topic,
                                                              topics->values().type()->ToString()))
            .WithRemedy("Name the column that holds the topic, or the topic itself with --topic.");
      }
    }
    for (int64_t row = 0; row < rows.num_rows(); ++row) {
      ++offsets_.rows;
      if (partitions.IsNull(row) || numbers.IsNull(row) || (topics && topics->IsNull(row))) {
        ++offsets_.rows_without_position;
        continue;
      }
      const std::string_view topic =
          topics ? std::string_view(static_cast<const arrow::StringArray&>(topics->values()).GetView(row))
                 : std::string_view(columns_.topic_name);
      AddOne(topic, static_cast<int32_t>(partitions.Value(row)), numbers.Value(row));
    }
    return Ok();
  }

 private:
  void AddOne(std::string_view topic, int32_t partition, int64_t offset) {
    if (current_ == nullptr || at_.partition != partition || at_.topic != topic) {
      at_ = {std::string(topic), partition};
      current_ = &offsets_.partitions[at_];
    }
    ++current_->rows;
    if (!current_->offsets.Insert(offset)) current_->repeated.Insert(offset);
  }

  const PositionColumns& columns_;
  TableOffsets& offsets_;
  SourcePartition at_;
  PartitionRows* current_ = nullptr;
};

}  // namespace

Result<PositionColumns> FindPositionColumns(const iceberg::Schema& schema, const PositionColumns& named) {
  constexpr std::array kPrefixes = {"_kafka.", "", "kafka_"};
  const bool by_topic_name = !named.topic_name.empty();
  for (const std::string_view prefix : kPrefixes) {
    PositionColumns found = named;
    if (found.topic.empty() && !by_topic_name) found.topic = fmt::format("{}topic", prefix);
    if (found.partition.empty()) found.partition = fmt::format("{}partition", prefix);
    if (found.offset.empty()) found.offset = fmt::format("{}offset", prefix);
    if ((by_topic_name || Has(schema, found.topic)) && Has(schema, found.partition) &&
        Has(schema, found.offset))
      return found;
  }
  return Error(ErrorKind::kInvalidArgument, "the table has no columns that tell where its rows came from")
      .WithRemedy(
          "Firn writes them with 'kafka_columns: true'; otherwise name them: --topic-column (or --topic), "
          "--partition-column, --offset-column.");
}

Status AddOffsets(const iceberg::LoadedTable& table, const PositionColumns& columns, const std::string& ref,
                  TableOffsets& offsets) {
  iceberg::ScanOptions options;
  if (!columns.topic.empty()) options.columns.push_back(columns.topic);
  options.columns.push_back(columns.partition);
  options.columns.push_back(columns.offset);
  options.ref = ref;
  FIRN_ASSIGN(const auto scan, iceberg::TableScan::Make(table.metadata, table.store, options));
  FIRN_ASSIGN(const auto rows, scan.Read());
  Adder adder(columns, offsets);
  for (;;) {
    FIRN_ASSIGN(const auto batch, rows->Next());
    if (batch == nullptr) return Ok();
    FIRN_TRY(adder.Add(*batch));
  }
}

}  // namespace firn::verify
