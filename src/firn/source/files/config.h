#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "firn/config/problems.h"
#include "firn/config/schema.h"
#include "firn/store/s3_access.h"

namespace firn::source::files {

enum class Mode : uint8_t { kOnce, kWatch };
/// What to do with a file that is not as it should be.
enum class FilePolicy : uint8_t { kFail, kTake, kSkip };

/// `source.files` of a pipeline.
struct FilesConfig {
  std::string path;  ///< folder, glob or one file
  Mode mode = Mode::kWatch;
  int64_t lookback_ms = int64_t{7} * 24 * 3600 * 1000;
  FilePolicy on_late_file = FilePolicy::kFail;
  FilePolicy on_changed_file = FilePolicy::kFail;
  int64_t poll_interval_ms = 5'000;
  int64_t min_age_ms = 2'000;
  bool include_hidden = false;
  store::S3Access s3;  ///< for a path that is s3://
};

/// The keys with their bounds and documentation.
const config::Schema<FilesConfig>& FilesSchema();

/// Reads the node of `source.files`; everything that is wrong goes to `problems`.
std::optional<FilesConfig> ParseFilesConfig(const config::Node& node, config::Problems& problems);

}  // namespace firn::source::files
