#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/units.h"
#include "firn/cli/arguments.h"
#include "firn/cli/json_output.h"
#include "firn/cli/table/catalog_access.h"
#include "firn/cli/table/table_commands.h"
#include "firn/cli/table/table_text.h"
#include "firn/cli/text_table.h"
#include "firn/iceberg/meta/manifest.h"

namespace firn::cli {

namespace {

std::string_view ContentText(iceberg::FileContent content) {
  switch (content) {
    case iceberg::FileContent::kData:
      return "data";
    case iceberg::FileContent::kPositionDeletes:
      return "position-deletes";
    case iceberg::FileContent::kEqualityDeletes:
      return "equality-deletes";
  }
  return "?";
}

std::string PartitionText(const iceberg::TableMetadata& metadata, const iceberg::DataFile& file) {
  const iceberg::PartitionSpec* spec = metadata.FindSpec(file.spec_id);
  return spec == nullptr ? "" : iceberg::PartitionPath(*spec, file.partition);
}

class TableFiles final : public Command {
 public:
  std::string_view name() const override { return "files"; }
  std::string_view summary() const override { return "Live data and delete files of a snapshot"; }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("TABLE", table_, "catalog.namespace.table").Required();
    arguments.Option("--snapshot", snapshot_id_, "Of this snapshot instead of the current one").Value("ID");
    arguments.Option("--as-of", as_of_, "Of the snapshot that was current then (2026-01-31T10:00:00Z)")
        .Value("TIME");
    arguments.Flag("--json", json_, "JSON with stable keys");
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const iceberg::LoadedTable table, access_.LoadTable(context, table_));
    FIRN_ASSIGN(const iceberg::Snapshot* snapshot, ChosenSnapshot(*table.metadata, snapshot_id_, as_of_));
    std::vector<iceberg::ManifestEntry> entries;
    if (snapshot != nullptr) {
      FIRN_ASSIGN(entries, LiveEntries(table, *snapshot));
    }
    if (json_) {
      PrintJsonOf(context.out, *table.metadata, entries);
    } else {
      PrintText(context.out, *table.metadata, entries);
    }
    return ExitCode::kDone;
  }

 private:
  static Result<std::vector<iceberg::ManifestEntry>> LiveEntries(const iceberg::LoadedTable& table,
                                                                 const iceberg::Snapshot& snapshot) {
    FIRN_ASSIGN(const std::vector<iceberg::ManifestFile> manifests,
                iceberg::ReadManifestList(*table.store, snapshot));
    std::vector<iceberg::ManifestEntry> live;
    for (const iceberg::ManifestFile& manifest : manifests) {
      FIRN_ASSIGN(std::vector<iceberg::ManifestEntry> entries,
                  iceberg::ReadManifest(*table.store, manifest, *table.metadata));
      for (iceberg::ManifestEntry& entry : entries) {
        if (entry.live()) live.push_back(std::move(entry));
      }
    }
    return live;
  }

  static void PrintText(Output& out, const iceberg::TableMetadata& metadata,
                        const std::vector<iceberg::ManifestEntry>& entries) {
    TextTable table({{"CONTENT"}, {"ROWS", Align::kRight}, {"SIZE", Align::kRight}, {"PARTITION"}, {"PATH"}});
    for (const iceberg::ManifestEntry& entry : entries) {
      const iceberg::DataFile& file = entry.file;
      const std::string size =
          out.is_terminal() ? HumanBytes(file.file_size_bytes) : fmt::format("{}", file.file_size_bytes);
      const std::string rows =
          out.is_terminal() ? HumanCount(file.record_count) : fmt::format("{}", file.record_count);
      table.AddRow({std::string(ContentText(file.content)), rows, size, PartitionText(metadata, file),
                    file.file_path});
    }
    table.PrintTo(out);
  }

  static void PrintJsonOf(Output& out, const iceberg::TableMetadata& metadata,
                          const std::vector<iceberg::ManifestEntry>& entries) {
    nlohmann::json files = nlohmann::json::array();
    for (const iceberg::ManifestEntry& entry : entries) {
      const iceberg::DataFile& file = entry.file;
      files.push_back(
          {{"content", ContentText(file.content)},
           {"file-path", file.file_path},
           {"file-format", file.file_format},
           {"spec-id", file.spec_id},
           {"partition", PartitionText(metadata, file)},
           {"record-count", file.record_count},
           {"file-size-in-bytes", file.file_size_bytes},
           {"snapshot-id", entry.snapshot_id ? nlohmann::json(*entry.snapshot_id) : nlohmann::json(nullptr)},
           {"sequence-number",
            entry.sequence_number ? nlohmann::json(*entry.sequence_number) : nlohmann::json(nullptr)}});
    }
    PrintJson(out, {{"files", std::move(files)}});
  }

  CatalogAccess access_;
  std::string table_;
  std::optional<int64_t> snapshot_id_;
  std::string as_of_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeTableFilesCommand() { return std::make_unique<TableFiles>(); }

}  // namespace firn::cli
