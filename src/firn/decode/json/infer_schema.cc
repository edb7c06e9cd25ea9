#include "firn/decode/json/infer_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <new>
#include <optional>

#include "firn/decode/decoder.h"
#include "firn/decode/json/infer_value.h"

namespace firn::decode {

namespace {

constexpr size_t kMaxColumns = 10'000;

/// One top-level field over the sample: every type it was seen with, most records win.
struct FieldVotes {
  std::string name;
  struct Vote {
    InferredType type;
    int64_t records = 0;
  };
  std::vector<Vote> votes;

  void Add(const InferredType& type) {
    if (type.is_waiting()) return;
    for (Vote& vote : votes) {
      InferredType merged = vote.type;
      merged.Merge(type);
      if (merged.FindConflict().empty()) {
        vote.type = std::move(merged);
        ++vote.records;
        return;
      }
    }
    votes.push_back({type, 1});
  }
};

class SampleReader {
 public:
  void Add(std::string_view text) {
    const bool is_object = walker_.Start(text) == IndexOutcome::kOk && walker_.Peek() == '{';
    std::optional<InferredType> type = is_object ? InferValue(walker_) : std::nullopt;
    if (!type || !walker_.at_end()) {
      ++result_.bad_records;
      return;
    }
    ++result_.records;
    for (auto& [name, field] : type->fields) VotesOf(name).Add(field);
  }

  /// A key, which may also be one plain value.
  void AddKey(std::string_view column, std::string_view key) {
    // A number that is all of a record would be read on into the next.
    const std::string padded = std::string(key) + std::string(record::kArenaPadding, ' ');
    const std::string_view text = std::string_view(padded).substr(0, key.size());
    if (walker_.Start(text) != IndexOutcome::kOk || walker_.Peek() == '{' || walker_.Peek() == '[')
      return Add(text);
    const std::optional<InferredType> type = InferValue(walker_);
    if (!type || !walker_.at_end()) {
      ++result_.bad_records;
      return;
    }
    ++result_.records;
    VotesOf(std::string(column)).Add(*type);
  }

  Result<InferredSchema> Finish() {
    FIRN_TRY(CheckNames());
    std::vector<iceberg::NestedField> fields;
    for (const FieldVotes& field : fields_) {
      if (std::optional<iceberg::NestedField> column = ColumnOf(field)) fields.push_back(std::move(*column));
    }
    if (fields.empty()) return NothingLearned();
    int32_t next_id = 1;
    result_.schema = iceberg::AssignFreshIds(iceberg::Schema(0, std::move(fields)), next_id);
    return std::move(result_);
  }

 private:
  FieldVotes& VotesOf(const std::string& name) {
    const auto [entry, is_new] = index_.try_emplace(name, fields_.size());
    if (is_new) fields_.push_back({name, {}});
    return fields_[entry->second];
  }

  Error NothingLearned() const {
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("no schema can be inferred: {} records were JSON objects, {} were not, none had "
                             "a field with a value",
                             result_.records, result_.bad_records))
        .WithRemedy("Declare the columns under 'columns:'.");
  }

  Status CheckNames() const {
    if (fields_.size() > kMaxColumns) {
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("the sampled records have {} different fields", fields_.size()))
          .WithRemedy(
              "Declare the columns under 'columns:'; an object with free keys is a map<string, ...>.");
    }
    std::map<std::string, std::string> by_lower;
    for (const FieldVotes& field : fields_) {
      std::string lower = field.name;
      for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      const auto [other, is_new] = by_lower.try_emplace(lower, field.name);
      if (is_new) continue;
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("the records have fields '{}' and '{}', which differ only in case",
                               other->second, field.name))
          .WithRemedy(
              "Declare the columns under 'columns:' and give each the field it comes from with 'from:'.");
    }
    return Ok();
  }

  std::optional<iceberg::NestedField> ColumnOf(const FieldVotes& field) {
    if (field.votes.empty()) {
      Note(field.name, "left out: no record of the sample has a value for it");
      return std::nullopt;
    }
    if (iceberg::IsReservedColumnName(field.name)) {
      Note(field.name, "left out: Iceberg reserves the name");
      return std::nullopt;
    }
    if (field.name == kRescuedColumn || field.name == kKafkaColumn) {
      Note(field.name, "left out: Firn uses the name itself");
      return std::nullopt;
    }
    const auto more = [](const auto& a, const auto& b) { return a.records < b.records; };
    const auto& winner = *std::max_element(field.votes.begin(), field.votes.end(), more);
    if (const std::string conflict = winner.type.FindConflict(); !conflict.empty()) {
      Note(field.name, fmt::format("left out: its values have no common type ({})", conflict));
      return std::nullopt;
    }
    NoteLosers(field, winner);
    iceberg::NestedField column;
    column.name = field.name;
    column.type = winner.type.ToIceberg();
    return column;
  }

  void NoteLosers(const FieldVotes& field, const FieldVotes::Vote& winner) {
    for (const auto& vote : field.votes) {
      if (&vote == &winner) continue;
      Note(field.name,
           fmt::format("{} in {} records, but {} in {}: those will be bad records",
                       ToString(winner.type.kind), winner.records, ToString(vote.type.kind), vote.records));
    }
  }

  void Note(std::string_view name, std::string_view text) {
    result_.notes.push_back(fmt::format("field '{}': {}", name, text));
  }

  Walker walker_;
  InferredSchema result_;
  std::vector<FieldVotes> fields_;
  std::map<std::string, size_t> index_;
};

}  // namespace

Result<InferredSchema> InferJsonSchema(const std::vector<record::RawBatch>& sample) {
  try {
    SampleReader reader;
    for (const record::RawBatch& raw : sample) {
      for (size_t i = 0; i < raw.size(); ++i) {
        if (!raw.values[i].is_null()) reader.Add(raw.value(i));
      }
    }
    return reader.Finish();
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::kResourceExhausted, "no memory left while inferring a schema");
  }
}

Result<InferredSchema> InferJsonKeySchema(std::string_view column,
                                          const std::vector<record::RawBatch>& sample) {
  try {
    SampleReader reader;
    for (const record::RawBatch& raw : sample) {
      for (size_t i = 0; i < raw.size(); ++i) {
        if (!raw.values[i].is_null()) reader.AddKey(column, raw.value(i));
      }
    }
    return reader.Finish();
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::kResourceExhausted, "no memory left while inferring a schema");
  }
}

}  // namespace firn::decode
