#include "firn/iceberg/meta/partition_summary.h"

#include <cmath>
#include <utility>

namespace firn::iceberg {

namespace {

bool IsNan(const Literal& value) {
  if (const auto* single = std::get_if<float>(&value.value())) return std::isnan(*single);
  if (const auto* number = std::get_if<double>(&value.value())) return std::isnan(*number);
  return false;
}

/// -0.0 for a lower bound, +0.0 for an upper one, where the value is a zero.
Literal WithZero(const Literal& bound, double zero) {
  if (const auto* single = std::get_if<float>(&bound.value()); single != nullptr && *single == 0) {
    return {bound.type(), static_cast<float>(zero)};
  }
  if (const auto* number = std::get_if<double>(&bound.value()); number != nullptr && *number == 0)
    return {bound.type(), zero};
  return bound;
}

}  // namespace

void PartitionSummary::Add(const PartitionValues& partition) {
  FIRN_CHECK(partition.values.size() == fields_.size(), "one partition value per field of the spec");
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Literal& value = partition.values[i];
    Field& field = fields_[i];
    if (value.is_null()) {
      field.contains_null = true;
    } else if (IsNan(value)) {
      field.contains_nan = true;
    } else {
      if (!field.lower || value.Compare(*field.lower) < 0) field.lower = value;
      if (!field.upper || value.Compare(*field.upper) > 0) field.upper = value;
    }
  }
}

Result<std::vector<FieldSummary>> PartitionSummary::Finish() const {
  std::vector<FieldSummary> summaries;
  for (const Field& field : fields_) {
    FieldSummary summary{field.contains_null, field.contains_nan, std::nullopt, std::nullopt};
    // Java up to 1.12 orders UUIDs as signed numbers and would pass over manifests that hold what it looks
    // for.
    if (field.lower && field.lower->type()->id() != TypeId::kUuid) {
      FIRN_ASSIGN(summary.lower_bound, WithZero(*field.lower, -0.0).ToBytes());
      FIRN_ASSIGN(summary.upper_bound, WithZero(*field.upper, 0.0).ToBytes());
    }
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

}  // namespace firn::iceberg
