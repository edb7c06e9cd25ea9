#include "firn/decode/csv/csv_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "firn/base/bytes.h"
#include "firn/decode/cell.h"
#include "firn/decode/csv/field_splitter.h"
#include "firn/decode/csv/infer_text.h"
#include "firn/decode/csv/layout.h"
#include "firn/decode/csv/record_fields.h"
#include "firn/decode/evolution.h"
#include "firn/decode/reasons.h"
#include "firn/decode/row_decoder.h"

namespace firn::decode {

namespace {

using record::RawBatch;

constexpr size_t kExcerptBytes = 60;

class CsvReader : public RowReader {
 public:
  CsvReader(const CsvDialect& dialect, std::unique_ptr<CsvColumns> columns)
      : allow_missing_(dialect.ragged_rows == RaggedRows::kAllowMissingTrailing),
        columns_(std::move(columns)),
        fields_(dialect) {}

  Status Enter(const RawBatch& raw, size_t /*begin*/) override {
    header_is_good_ = fields_.Enter(raw);
    return Ok();
  }

  RowOutcome Read(const RawBatch& raw, size_t i) override {
    needs_.clear();
    rescued_.clear();
    ignored_ = 0;
    if (!header_is_good_ || !fields_.Split(raw.value(i))) {
      failure_ = fields_.failure();
      return RowOutcome::kBad;
    }
    const int64_t row = root().length();
    const bool good = Arrange() && CheckWidth() && Fill(row) && CheckRequired(row);
    if (good && needs_.empty()) {
      if (!rescued_.empty()) AppendRescued(row);
      root().EndStruct();
      return RowOutcome::kRow;
    }
    root().Truncate(row);
    return good ? RowOutcome::kNeedsChange : RowOutcome::kBad;
  }

  const BoundSchema& bound() const override { return columns_->bound(); }
  Column& root() override { return columns_->root(); }
  int32_t field_count() const override { return columns_->field_count(); }
  const Failure& failure() const override { return failure_; }
  const Needs& needs() const override { return needs_; }
  int64_t unknown_fields_ignored() const override { return ignored_; }

 private:
  /// Targets for the names of the record; kept as long as the names stay the same.
  bool Arrange() {
    if (arranged_version_ == fields_.names_version()) return true;
    arranged_version_ = -1;
    if (fields_.names().empty()) {
      targets_ = columns_->InTableOrder();
    } else if (!columns_->Arrange(fields_.names(), &targets_, &failure_)) {
      return false;
    }
    arranged_version_ = fields_.names_version();
    return true;
  }

  bool CheckWidth() {
    const size_t found = fields_.fields().size();
    if (found == targets_.size() || (found < targets_.size() && allow_missing_)) return true;
    failure_ = {reason::kRaggedRow, fmt::format("{} fields, expected {}", found, targets_.size())};
    return false;
  }

  bool Fill(int64_t row) {
    const std::vector<CsvField>& fields = fields_.fields();
    for (size_t i = 0; i < fields.size(); ++i) {
      const CsvTarget& target = targets_[i];
      if (!(target.column != nullptr ? FillColumn(*target.column, fields[i], row, target.name)
                                     : TakeUnknown(target, fields[i])))
        return false;
    }
    return true;
  }

  bool FillColumn(Column& column, const CsvField& field, int64_t row, std::string_view name) {
    column.Align(row);
    if (field.is_null) {
      if (column.required())
        return Wrong(column, name, "null", reason::kNullRequired, "a value, as the column is required,");
      column.AppendNull();
      return true;
    }
    const CellOutcome outcome = AppendPlainText(column, field.text, column.binding().epoch_digits);
    if (outcome.ok()) [[likely]]
      return true;
    if (outcome.fits_wider && column.binding().may_widen) {
      needs_.widened.push_back({column.field().id, WiderType(column, outcome)});
      column.AppendNull();
      return true;
    }
    return Wrong(column, name, fmt::format("\"{}\"", Excerpt(field.text, kExcerptBytes)), outcome.reason,
                 outcome.expected);
  }

  bool Wrong(const Column& column, std::string_view name, std::string_view found, std::string_view reason,
             std::string_view expected) {
    failure_ = {reason, fmt::format("field '{}': found {}, expected {} for a column of type {}", name, found,
                                    expected, column.type().ToString())};
    return false;
  }

  bool TakeUnknown(const CsvTarget& target, const CsvField& field) {
    if (field.is_null) return true;
    if (target.addable) {
      needs_.added.push_back({0, target.name, InferText(field)});
      return true;
    }
    switch (bound().unknown_fields) {
      case UnknownFields::kIgnore:
        ++ignored_;
        return true;
      case UnknownFields::kRescue:
        rescued_.emplace_back(target.name, field.text);
        return true;
      case UnknownFields::kDeadLetter:
        failure_ = {reason::kUnknownField,
                    fmt::format("field '{}': unknown field: {}", target.name, target.why_not)};
        return false;
    }
    return true;
  }

  bool CheckRequired(int64_t row) {
    for (Column* child : root().required_children()) {
      if (child->length() == row + 1) [[likely]]
        continue;
      if (child->has_default()) {
        child->Align(row + 1);
        continue;
      }
      failure_ = {reason::kMissingRequired,
                  fmt::format("field '{}': a column of type {} is required, but the record has no such field",
                              child->field().name, child->type().ToString())};
      return false;
    }
    return true;
  }

  void AppendRescued(int64_t row) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (const auto& [name, text] : rescued_) object[name] = text;
    const std::string text = object.dump();
    columns_->rescued()->Align(row);
    columns_->rescued()->AppendBytes(text.data(), static_cast<int64_t>(text.size()));
  }

  const bool allow_missing_;
  std::unique_ptr<CsvColumns> columns_;
  RecordFields fields_;
  bool header_is_good_ = true;
  int64_t arranged_version_ = -1;  ///< of the names that targets_ are for
  std::vector<CsvTarget> targets_;
  Needs needs_;
  Failure failure_;
  std::vector<std::pair<std::string, std::string>> rescued_;
  int64_t ignored_ = 0;
};

/// Types of a sample's fields, in the order in which they were first seen.
class CsvSample {
 public:
  explicit CsvSample(const CsvDialect& dialect) : fields_(dialect) {}

  void Add(const RawBatch& raw) {
    if (!fields_.Enter(raw)) return;
    for (size_t i = 0; i < raw.size(); ++i) {
      if (raw.values[i].is_null()) continue;
      if (!fields_.Split(raw.value(i))) {
        ++result_.bad_records;
        continue;
      }
      ++result_.records;
      for (size_t f = 0; f < fields_.fields().size(); ++f)
        TypeOf(NameOf(f)).Merge(InferText(fields_.fields()[f]));
    }
  }

  Result<InferredSchema> Finish() {
    std::vector<iceberg::NestedField> columns;
    for (const auto& [name, type] : types_) {
      FIRN_TRY(CheckName(name));
      if (const std::string why = WhyLeftOut(name, type); !why.empty()) {
        result_.notes.push_back(fmt::format("field '{}': left out: {}", name, why));
        continue;
      }
      iceberg::NestedField column;
      column.name = name;
      column.type = type.ToIceberg();
      columns.push_back(std::move(column));
    }
    if (columns.empty()) {
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("no schema can be inferred: {} CSV records, none had a named field with a "
                               "value",
                               result_.records))
          .WithRemedy("Declare the columns under 'columns:' of the table.");
    }
    int32_t next_id = 1;
    result_.schema = iceberg::AssignFreshIds(iceberg::Schema(0, std::move(columns)), next_id);
    return std::move(result_);
  }

 private:
  std::string WhyLeftOut(std::string_view name, const InferredType& type) const {
    if (name.empty()) return "it has no name";
    if (iceberg::IsReservedColumnName(name)) return "Iceberg reserves the name";
    if (name == kRescuedColumn || name == kKafkaColumn) return "Firn uses the name itself";
    if (type.is_waiting() && has_names_) return "no record of the sample has a value for it";
    return {};
  }

  std::string NameOf(size_t field) {
    has_names_ = has_names_ || !fields_.names().empty();
    if (fields_.names().empty()) return fmt::format("column_{}", field + 1);
    return field < fields_.names().size() ? fields_.names()[field] : std::string();
  }

  InferredType& TypeOf(const std::string& name) {
    const auto [entry, is_new] = index_.try_emplace(name, types_.size());
    if (is_new) types_.emplace_back(name, InferredType());
    return types_[entry->second].second;
  }

  Status CheckName(const std::string& name) const {
    for (const auto& [other, type] : types_) {
      if (other == name || !EqualsIgnoringCase(other, name)) continue;
      return Error(
                 ErrorKind::kInvalidArgument,
                 fmt::format("the records have fields '{}' and '{}', which differ only in case", other, name))
          .WithRemedy(
              "Declare the columns under 'columns:' of the table and give each the field it comes from with "
              "'from:'.");
    }
    return Ok();
  }

  RecordFields fields_;
  InferredSchema result_;
  bool has_names_ = false;
  std::vector<std::pair<std::string, InferredType>> types_;
  std::map<std::string, size_t> index_;
};

}  // namespace

Result<std::unique_ptr<Decoder>> MakeCsvDecoder(const CsvDialect& dialect, const BoundSchema& bound) {
  return BindDecoder(bound, [&](const BoundSchema& with_pool) -> Result<std::unique_ptr<Decoder>> {
    FIRN_ASSIGN(auto columns, CsvColumns::Make(with_pool));
    return MakeRowDecoder(std::make_unique<CsvReader>(dialect, std::move(columns)));
  });
}

Result<InferredSchema> InferCsvSchema(const CsvDialect& dialect, const std::vector<RawBatch>& sample) {
  CsvSample types(dialect);
  for (const RawBatch& raw : sample) types.Add(raw);
  return types.Finish();
}

}  // namespace firn::decode
