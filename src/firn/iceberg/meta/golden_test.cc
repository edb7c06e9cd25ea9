#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "firn/base/bytes.h"
#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/meta/partition_avro.h"
#include "firn/store/memory/memory_store.h"

// Manifests that Java and PyIceberg wrote, read and compared with what they themselves read; see
// test/golden/manifests/README.md.

namespace firn::iceberg {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <typename T>
json OrNull(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json Hex(const std::optional<std::string>& bytes) { return bytes ? json(HexEncode(*bytes)) : json(nullptr); }

json ByKey(const std::map<int32_t, int64_t>& map) {
  json out = json::object();
  for (const auto& [key, value] : map) out[std::to_string(key)] = value;
  return out;
}

json ByKey(const std::map<int32_t, std::string>& map) {
  json out = json::object();
  for (const auto& [key, value] : map) out[std::to_string(key)] = HexEncode(value);
  return out;
}

json ToJson(const PartitionValues& partition) {
  json out = json::array();
  for (const auto& value : partition.values) {
    out.push_back(value.is_null() ? json(nullptr) : json(HexEncode(value.ToBytes().value())));
  }
  return out;
}

json ToJson(const ManifestEntry& entry) {
  const DataFile& file = entry.file;
  return {{"status", static_cast<int>(entry.status)},
          {"snapshot", OrNull(entry.snapshot_id)},
          {"sequence", OrNull(entry.sequence_number)},
          {"file-sequence", OrNull(entry.file_sequence_number)},
          {"content", static_cast<int>(file.content)},
          {"path", file.file_path},
          {"format", file.file_format},
          {"partition", ToJson(file.partition)},
          {"records", file.record_count},
          {"bytes", file.file_size_bytes},
          {"column-sizes", ByKey(file.column_sizes)},
          {"value-counts", ByKey(file.value_counts)},
          {"null-counts", ByKey(file.null_value_counts)},
          {"nan-counts", ByKey(file.nan_value_counts)},
          {"lower", ByKey(file.lower_bounds)},
          {"upper", ByKey(file.upper_bounds)},
          {"key-metadata", Hex(file.key_metadata)},
          {"split-offsets", file.split_offsets},
          {"equality-ids", file.equality_ids},
          {"sort-order", OrNull(file.sort_order_id)},
          {"first-row-id", OrNull(file.first_row_id)},
          {"referenced", OrNull(file.referenced_data_file)},
          {"offset", OrNull(file.content_offset)},
          {"size-in-file", OrNull(file.content_size_bytes)}};
}

json ToJson(const ManifestFile& manifest) {
  json summaries = json::array();
  for (const auto& summary : manifest.partitions.value_or(std::vector<FieldSummary>{})) {
    summaries.push_back({summary.contains_null, OrNull(summary.contains_nan), Hex(summary.lower_bound),
                         Hex(summary.upper_bound)});
  }
  return {{"path", manifest.path},
          {"length", manifest.length_bytes},
          {"spec", manifest.spec_id},
          {"content", static_cast<int>(manifest.content)},
          {"sequence", manifest.sequence_number},
          {"min-sequence", manifest.min_sequence_number},
          {"snapshot", manifest.added_snapshot_id},
          {"files",
           {OrNull(manifest.added_files_count), OrNull(manifest.existing_files_count),
            OrNull(manifest.deleted_files_count)}},
          {"rows",
           {OrNull(manifest.added_rows_count), OrNull(manifest.existing_rows_count),
            OrNull(manifest.deleted_rows_count)}},
          {"first-row-id", OrNull(manifest.first_row_id)},
          {"summaries", summaries}};
}

class GoldenManifests : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = fs::path(FIRN_SOURCE_DIR) / "test/golden/manifests" / GetParam();
    auto parsed = ParseTableMetadata(ReadFile(folder_ / "metadata.json"), "metadata.json");
    ASSERT_TRUE(parsed.ok()) << parsed.error().ToString();
    metadata_ = *std::move(parsed);
    for (const auto& entry : fs::directory_iterator(folder_)) {
      std::string location = metadata_.location + "/metadata/" + entry.path().filename().string();
      ASSERT_TRUE(store_.WriteAll(location, ReadFile(entry.path()), store::IfExists::kFail).ok());
    }
  }

  fs::path folder_;
  TableMetadata metadata_;
  store::MemoryStore store_;
};

TEST_P(GoldenManifests, AreReadAsTheirWriterReadsThem) {
  auto expected = json::parse(ReadFile(folder_ / "expected.json"));
  ASSERT_GE(expected.size(), 5U);
  for (const auto& wanted : expected) {
    const Snapshot* snapshot = metadata_.FindSnapshot(wanted["snapshot-id"]);
    ASSERT_NE(snapshot, nullptr);
    auto manifests = ReadManifestList(store_, *snapshot);
    ASSERT_TRUE(manifests.ok()) << manifests.error().ToString();
    ASSERT_EQ(manifests->size(), wanted["manifests"].size());
    for (size_t i = 0; i < manifests->size(); ++i) {
      json manifest = wanted["manifests"][i];
      auto entries = ReadManifest(store_, (*manifests)[i], metadata_);
      ASSERT_TRUE(entries.ok()) << entries.error().ToString();
      ASSERT_EQ(entries->size(), manifest["entries"].size());
      for (size_t j = 0; j < entries->size(); ++j) EXPECT_EQ(ToJson((*entries)[j]), manifest["entries"][j]);
      manifest.erase("entries");
      EXPECT_EQ(ToJson((*manifests)[i]), manifest);
    }
  }
}

TEST_P(GoldenManifests, AreWrittenAgainWithoutLoss) {
  ASSERT_NE(metadata_.current_snapshot(), nullptr);
  auto manifests = ReadManifestList(store_, *metadata_.current_snapshot()).value();
  int number = 0;
  for (const auto& manifest : manifests) {
    auto entries = ReadManifest(store_, manifest, metadata_).value();
    ManifestWriteOptions options;
    options.format_version = std::max(2, metadata_.format_version);
    std::string location = "memory://again/" + std::to_string(number++);
    auto again = WriteManifest(store_, location, *metadata_.schema(), *metadata_.FindSpec(manifest.spec_id),
                               manifest.content, manifest.added_snapshot_id, entries, options);
    if (!again.ok() &&
        HasFixedField(*PartitionTypeForReading(metadata_, *metadata_.FindSpec(manifest.spec_id)))) {
      EXPECT_EQ(again.error().kind(), ErrorKind::kUnsupported);
      continue;
    }
    ASSERT_TRUE(again.ok()) << again.error().ToString();
    again->sequence_number = manifest.sequence_number;
    again->first_row_id = manifest.first_row_id;
    auto read = ReadManifest(store_, *again, metadata_).value();
    ASSERT_EQ(read.size(), entries.size());
    for (size_t i = 0; i < read.size(); ++i) EXPECT_EQ(ToJson(read[i]), ToJson(entries[i]));
  }
}

INSTANTIATE_TEST_SUITE_P(Writers, GoldenManifests,
                         ::testing::Values("java-v1", "java-v2", "java-v3", "pyiceberg-v1", "pyiceberg-v2"),
                         [](const auto& folder) {
                           std::string name = folder.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace firn::iceberg
