#include "firn/cli/table/table_text.h"

#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "firn/base/time.h"
#include "firn/cli/text_table.h"

namespace firn::cli {

namespace {

constexpr int64_t kMicrosPerMilli = 1000;
constexpr int64_t kMsPerDay = kSecondsPerDay * 1000;

std::string Applied(const iceberg::Transform& transform, const std::string& column) {
  switch (transform.kind()) {
    case iceberg::TransformKind::kIdentity:
      return column;
    case iceberg::TransformKind::kBucket:
      return fmt::format("bucket({}, {})", transform.parameter(), column);
    case iceberg::TransformKind::kTruncate:
      return fmt::format("truncate({}, {})", transform.parameter(), column);
    default:
      return fmt::format("{}({})", transform.ToString(), column);
  }
}

std::string SourceName(const iceberg::Schema& schema, int32_t source_id) {
  std::string name = schema.FullName(source_id);
  return name.empty() ? fmt::format("<column {} of an older schema>", source_id) : name;
}

void AddField(TextTable& table, const iceberg::NestedField& field, size_t depth) {
  const bool nested = !field.type->is_primitive();
  std::string type = field.type->ToString();
  if (nested) type = type.substr(0, type.find('<'));
  table.AddRow({fmt::format("{}", field.id), std::string(depth * 2, ' ') + field.name, type,
                field.required ? "yes" : "no", field.doc});
  if (!nested) return;
  for (const iceberg::NestedField& child : field.type->fields()) AddField(table, child, depth + 1);
}

template <typename T>
std::optional<T> Number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string Earliest(const iceberg::TableMetadata& metadata) {
  int64_t earliest = std::numeric_limits<int64_t>::max();
  for (const iceberg::SnapshotLogEntry& entry : metadata.snapshot_log)
    earliest = std::min(earliest, entry.timestamp_ms);
  return metadata.snapshot_log.empty() ? "it has no snapshots"
                                       : "its history begins " + FormatInstantMs(earliest);
}

Result<const iceberg::Snapshot*> SnapshotById(const iceberg::TableMetadata& metadata, int64_t snapshot_id) {
  if (const iceberg::Snapshot* snapshot = metadata.FindSnapshot(snapshot_id)) return snapshot;
  return Error(ErrorKind::kNotFound, fmt::format("the table has no snapshot {} (any more)", snapshot_id))
      .WithRemedy("'firn table snapshots' lists those there are.");
}

Result<const iceberg::Snapshot*> SnapshotAsOf(const iceberg::TableMetadata& metadata, int64_t as_of_ms) {
  const iceberg::SnapshotLogEntry* last = nullptr;
  for (const iceberg::SnapshotLogEntry& entry : metadata.snapshot_log) {
    if (entry.timestamp_ms <= as_of_ms) last = &entry;
  }
  if (last != nullptr) return SnapshotById(metadata, last->snapshot_id);
  return Error(ErrorKind::kNotFound, fmt::format("the table was not there yet at {}: {}",
                                                 FormatInstantMs(as_of_ms), Earliest(metadata)));
}

}  // namespace

std::string TransformText(const iceberg::PartitionField& field, const iceberg::Schema& schema) {
  return Applied(field.transform, SourceName(schema, field.source_id));
}

std::string SpecText(const iceberg::PartitionSpec& spec, const iceberg::Schema& schema) {
  std::string text;
  for (const iceberg::PartitionField& field : spec.fields)
    text += (text.empty() ? "" : ", ") + TransformText(field, schema);
  return text.empty() ? "-" : text;
}

std::string OrderText(const iceberg::SortOrder& order, const iceberg::Schema& schema) {
  std::string text;
  for (const iceberg::SortField& field : order.fields) {
    text += fmt::format("{}{} {} nulls {}", text.empty() ? "" : ", ",
                        Applied(field.transform, SourceName(schema, field.source_id)),
                        field.direction == iceberg::SortDirection::kAsc ? "asc" : "desc",
                        field.null_order == iceberg::NullOrder::kFirst ? "first" : "last");
  }
  return text.empty() ? "-" : text;
}

std::string SchemaText(const iceberg::Schema& schema, bool terminal) {
  TextTable table({{"ID", Align::kRight}, {"COLUMN"}, {"TYPE"}, {"REQUIRED"}, {"DOC"}});
  for (const iceberg::NestedField& field : schema.fields()) AddField(table, field, 0);
  return terminal ? table.Aligned() : table.TabSeparated();
}

Result<const iceberg::Snapshot*> ChosenSnapshot(const iceberg::TableMetadata& metadata,
                                                const std::optional<int64_t>& snapshot_id,
                                                const std::string& as_of) {
  if (snapshot_id && !as_of.empty())
    return Error(ErrorKind::kInvalidArgument, "--snapshot and --as-of exclude each other");
  if (snapshot_id) return SnapshotById(metadata, *snapshot_id);
  if (as_of.empty()) return metadata.current_snapshot();
  FIRN_ASSIGN(const int64_t as_of_ms, ParseInstantMs(as_of));
  return SnapshotAsOf(metadata, as_of_ms);
}

Result<int64_t> ParseInstantMs(std::string_view text) {
  if (const std::optional<int64_t> epoch_ms = Number<int64_t>(text)) return *epoch_ms;
  int32_t days = 0;
  if (ParseDate(text, &days) == TimeParse::kOk) return days * kMsPerDay;
  int64_t micros = 0;
  if (ParseTimestampMicros(text, &micros) == TimeParse::kOk) return FloorDiv(micros, kMicrosPerMilli);
  return Error(ErrorKind::kInvalidArgument, fmt::format("'{}' is no time", text))
      .WithRemedy("Write 2026-01-31, 2026-01-31T10:20:30Z, 2026-01-31T10:20:30+02:00 or epoch milliseconds.");
}

std::optional<int64_t> SummaryCount(const iceberg::Snapshot& snapshot, const std::string& key) {
  const auto found = snapshot.summary.find(key);
  return found == snapshot.summary.end() ? std::nullopt : Number<int64_t>(found->second);
}

}  // namespace firn::cli
