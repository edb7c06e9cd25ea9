#include "firn/source/files/config.h"

#include "firn/source/files/path_pattern.h"

namespace firn::source::files {

namespace {

config::TypePtr<FilePolicy> Policy() {
  return config::Choice<FilePolicy>(
      {{"fail", FilePolicy::kFail}, {"take", FilePolicy::kTake}, {"skip", FilePolicy::kSkip}});
}

void CheckPath(const FilesConfig& config, config::Checker& check) {
  if (const auto pattern = PathPattern::Parse(config.path, config.include_hidden); !pattern.ok())
    check.Fail("path", pattern.error().ToString());
}

}  // namespace

const config::Schema<FilesConfig>& FilesSchema() {
  using Config = FilesConfig;
  constexpr int64_t kHourMs = 3'600'000;
  static const auto schema =
      config::Schema<Config>()
          .Required("path", &Config::path, config::Path(),
                    "A folder (everything below it), a pattern with `*`, `?`, `[a-z]`, `{a,b}` and `**` (any "
                    "folders), or one file; local or `s3://bucket/...`.")
          .Field("mode", &Config::mode,
                 config::Choice<Mode>({{"once", Mode::kOnce}, {"watch", Mode::kWatch}}),
                 "Read what is there at the start and end, or go on with files that come later.")
          .Field("lookback", &Config::lookback_ms, config::Duration({.min = 0}),
                 "How far behind the newest file taken a file's modification time may lie for it to count as "
                 "new.")
          .Field("on_late_file", &Config::on_late_file, Policy(),
                 "A file that was not seen before and is older than that: stop (exit code 3), take it, or "
                 "leave it out.")
          .Field("on_changed_file", &Config::on_changed_file, Policy(),
                 "A file that was overwritten after it was taken, or while it was read: stop (exit code 3), "
                 "take it again as a whole (rows that were committed stay), or leave the change out.")
          .Field("poll_interval", &Config::poll_interval_ms,
                 config::Duration({.min = 50, .max = 24 * kHourMs}), "Time between two listings.")
          .Field("min_age", &Config::min_age_ms, config::Duration({.min = 0, .max = 24 * kHourMs}),
                 "A file that was modified less than this ago may still be written: it waits.")
          .Field("include_hidden", &Config::include_hidden, config::Boolean(),
                 "Also names that begin with `.` or `_` and temporary ones (`.tmp`, `.crc`, `.inprogress`, "
                 "`._COPYING_` ...).")
          .Field("s3", &Config::s3, config::Object(store::S3AccessSchema()),
                 "How the files are reached when they are in s3://bucket/prefix.")
          .Check(CheckPath);
  return schema;
}

std::optional<FilesConfig> ParseFilesConfig(const config::Node& node, config::Problems& problems) {
  FilesConfig config;
  if (!FilesSchema().Read(node, problems, &config)) return std::nullopt;
  return config;
}

}  // namespace firn::source::files
