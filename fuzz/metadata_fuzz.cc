#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "firn/base/check.h"
#include "firn/iceberg/model/expression.h"
#include "firn/iceberg/model/table_metadata.h"
#include "firn/iceberg/model/update.h"

namespace {

using firn::iceberg::ParseTableMetadata;
using firn::iceberg::TableMetadata;

constexpr int64_t kNowMs = 1'800'000'000'000;

void Look(const TableMetadata& metadata) {
  const std::string current = metadata.schema()->as_struct()->ToString();
  FIRN_CHECK(!current.empty(), "a struct has a text");
  for (const auto& spec : metadata.partition_specs) firn::Ignore(metadata.PartitionType(spec));
  firn::Ignore(firn::iceberg::ValidateSchema(*metadata.schema(), metadata.format_version));
  firn::Ignore(firn::iceberg::ValidatePartitionSpec(metadata.spec(), *metadata.schema()));
  firn::Ignore(firn::iceberg::ValidateSortOrder(metadata.sort_order(), *metadata.schema()));
}

void Change(const TableMetadata& metadata) {
  const auto updates = firn::iceberg::PlanExpiry(metadata, kNowMs, /*keep_refs=*/false);
  firn::Ignore(firn::iceberg::ApplyUpdates(metadata, updates, {kNowMs, "previous"}));
}

/// What is written reads back to the same text.
void RoundTrip(const TableMetadata& metadata) {
  const auto text = firn::iceberg::SerializeTableMetadata(metadata, "none");
  if (!text.ok()) return;
  const auto again = ParseTableMetadata(*text, "again");
  FIRN_CHECK(again.ok(), "what we write is what we read");
  FIRN_CHECK(*firn::iceberg::SerializeTableMetadata(*again, "none") == *text, "writing is stable");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto metadata = ParseTableMetadata(bytes, "fuzz");
  if (!metadata.ok()) return 0;
  Look(*metadata);
  Change(*metadata);
  RoundTrip(*metadata);
  return 0;
}
