#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>

#include "firn/base/error.h"
#include "firn/config/secret.h"

namespace firn::obs {

enum class Level : uint8_t { kDebug, kInfo, kWarning, kError };

/// What a log field may hold. A Secret turns into `***` on the way in.
class LogValue {
 public:
  // NOLINTBEGIN(google-explicit-constructor): fields are written as {"key", value}
  LogValue(std::string_view text) : value_(text) {}
  LogValue(const char* text) : value_(std::string_view(text)) {}
  LogValue(const std::string& text) : value_(std::string_view(text)) {}
  LogValue(bool value) : value_(value) {}
  LogValue(double value) : value_(value) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  LogValue(T value) : value_(static_cast<int64_t>(value)) {}
  LogValue(const config::Secret& /*secret*/) : value_(std::string_view("***")) {}
  LogValue(const Error& error) : value_(error.ToString()) {}
  // NOLINTEND(google-explicit-constructor)

  using Value = std::variant<std::string_view, std::string, int64_t, double, bool>;
  const Value& value() const { return value_; }

 private:
  Value value_;
};

struct LogField {
  std::string_view key;
  LogValue value;
};
using LogFields = std::initializer_list<LogField>;

/// One line on stderr: `Log(Level::kInfo, "batch committed", {{"table", name}, {"rows", rows}})`. The message
/// is a constant, what varies is a field. Thread-safe. Texts are views: they must live for the call only.
void Log(Level level, std::string_view message, LogFields fields = {});
/// Whether a line of this level would be written, where its fields cost something to make.
bool LogEnabled(Level level);

enum class LogFormat : uint8_t {
  kText,  ///< `2026-01-31T12:00:00.123Z INFO  batch committed table=travel.flights rows=1000`
  kJson,  ///< {"time":"2026-01-31T12:00:00.123Z","level":"info","thread":"main","message":"batch
          ///< committed","rows":1000}
};

struct LogOptions {
  Level min_level = Level::kInfo;
  LogFormat format = LogFormat::kText;
};
/// Until called: text, from kInfo on. Thread-safe.
void ConfigureLogging(const LogOptions& options);

/// Text at the end of the terminal that stderr is, below the log: the progress of a run. Wiped before each
/// log line and drawn again after it; each call replaces the former text, an empty one takes it away. Lines
/// must fit the terminal and end in a line break. Thread-safe.
void SetLiveText(std::string text);

/// A line that may come too often: at most one per `interval_ms`, the next one tells in `suppressed` how many
/// were left out. One object per place in the code and thing it speaks of. Thread-safe.
class RateLimitedLog {
 public:
  explicit RateLimitedLog(int64_t interval_ms) : interval_ms_(interval_ms) {}
  void Log(Level level, std::string_view message, LogFields fields = {});

 private:
  const int64_t interval_ms_;
  std::mutex mutex_;
  int64_t next_ns_ = INT64_MIN;
  int64_t suppressed_ = 0;
};

/// Takes all lines instead of stderr while it lives: tests. Not to be nested.
class LogCapture {
 public:
  explicit LogCapture(const LogOptions& options = {});
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;
  ~LogCapture();
  std::string text() const;
};

}  // namespace firn::obs
