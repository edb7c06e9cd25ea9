// The pipeline file: any bytes give a tree or problems with their places, never a crash; a tree can be
// walked.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "firn/config/load.h"
#include "firn/config/schema.h"

namespace {

using firn::config::Node;

int64_t CountNodes(const Node& node, int64_t budget) {
  int64_t count = 1;
  for (const Node& item : node.Items()) count += count < budget ? CountNodes(item, budget - count) : 0;
  for (const auto& entry : node.Entries())
    count += count < budget ? CountNodes(entry.value, budget - count) : 0;
  return count;
}

struct FuzzConfig {
  int64_t interval_ms = 0;
  int64_t bytes = 0;
  double ratio = 0;
  std::map<std::string, std::string> properties;
  std::string path;
};

const firn::config::Schema<FuzzConfig>& FuzzSchema() {
  namespace config = firn::config;
  static const auto schema =
      config::Schema<FuzzConfig>()
          .Field("interval", &FuzzConfig::interval_ms, config::Duration(), "x")
          .Field("bytes", &FuzzConfig::bytes, config::Bytes(), "x")
          .Field("ratio", &FuzzConfig::ratio, config::Number(), "x")
          .Field("properties", &FuzzConfig::properties, config::MapOf(config::Text()), "x")
          .Field("path", &FuzzConfig::path, config::Path(), "x");
  return schema;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const firn::config::Environment environment = {
      [](const std::string& name) {
        return name == "A" ? std::optional<std::string>("value") : std::nullopt;
      },
      [](const std::string&) -> firn::Result<std::string> { return std::string("text\n"); }};
  firn::config::Problems problems;
  const auto root = firn::config::LoadText(text, "f.yaml", environment, problems);
  if (root.has_value() != problems.empty()) std::abort();
  if (problems.ToString().empty() != problems.empty()) std::abort();
  if (!root) return 0;
  CountNodes(*root, 10'000);
  FuzzConfig config;
  if (FuzzSchema().Read(*root, problems, &config) != problems.empty()) std::abort();
  return 0;
}
