#include "firn/obs/log.h"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "firn/base/bytes.h"
#include "firn/base/time.h"

namespace firn::obs {

namespace {

struct LogState {
  std::mutex mutex;
  std::shared_ptr<spdlog::logger> logger;
  LogOptions options;
  std::ostringstream captured;
};

std::shared_ptr<spdlog::logger> MakeLogger(spdlog::sink_ptr sink) {
  auto logger = std::make_shared<spdlog::logger>("firn", std::move(sink));
  logger->set_level(spdlog::level::trace);  // what is too low never reaches it
  logger->set_pattern("%v");
  logger->flush_on(spdlog::level::trace);
  return logger;
}

LogState& State() {
  // Never destroyed: threads that outlive main's statics may still log.
  static LogState& state =
      *new LogState{{}, MakeLogger(std::make_shared<spdlog::sinks::stderr_sink_mt>()), {}, {}};
  return state;
}

std::atomic<Level> min_level{Level::kInfo};

std::string_view LevelName(Level level) {
  switch (level) {
    case Level::kDebug:
      return "debug";
    case Level::kInfo:
      return "info";
    case Level::kWarning:
      return "warning";
    case Level::kError:
      return "error";
  }
  return "?";
}

std::string_view LevelTag(Level level) {
  switch (level) {
    case Level::kDebug:
      return "DEBUG";
    case Level::kInfo:
      return "INFO ";
    case Level::kWarning:
      return "WARN ";
    case Level::kError:
      return "ERROR";
  }
  return "?";
}

spdlog::level::level_enum ToSpdlog(Level level) {
  constexpr std::array kLevels = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                  spdlog::level::err};
  return kLevels.at(static_cast<size_t>(level));
}

std::string NowText() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return FormatInstantMs(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

std::string ThreadName() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

constexpr size_t kMaxTextBytes = 8192;

/// Quoted as soon as a reader could take it apart wrongly.
void AppendText(std::string& line, std::string_view text) {
  const std::string clean = Excerpt(text, kMaxTextBytes);
  if (!clean.empty() && clean.find_first_of(" \"=") == std::string::npos) {
    line += clean;
    return;
  }
  line += '"';
  for (const char c : clean) {
    if (c == '"') line += '\\';
    line += c;
  }
  line += '"';
}

struct TextAppender {
  std::string& line;
  void operator()(std::string_view text) const { AppendText(line, text); }
  void operator()(const std::string& text) const { AppendText(line, text); }
  void operator()(int64_t value) const { line += fmt::format_int(value).str(); }
  void operator()(double value) const { line += fmt::format("{}", value); }
  void operator()(bool value) const { line += value ? "true" : "false"; }
};

std::string TextLine(Level level, std::string_view message, const std::vector<LogField>& fields) {
  std::string line = NowText();
  line.append(" ").append(LevelTag(level)).append(" ").append(Excerpt(message, kMaxTextBytes));
  for (const LogField& field : fields) {
    line.append(" ").append(field.key).append("=");
    std::visit(TextAppender{line}, field.value.value());
  }
  return line;
}

struct JsonMaker {
  nlohmann::ordered_json operator()(std::string_view text) const { return Excerpt(text, kMaxTextBytes); }
  nlohmann::ordered_json operator()(const std::string& text) const { return Excerpt(text, kMaxTextBytes); }
  nlohmann::ordered_json operator()(int64_t value) const { return value; }
  nlohmann::ordered_json operator()(double value) const { return value; }
  nlohmann::ordered_json operator()(bool value) const { return value; }
};

std::string JsonLine(Level level, std::string_view message, const std::vector<LogField>& fields) {
  nlohmann::ordered_json line;
  line["time"] = NowText();
  line["level"] = LevelName(level);
  line["thread"] = ThreadName();
  line["message"] = Excerpt(message, kMaxTextBytes);
  for (const LogField& field : fields)
    line[std::string(field.key)] = std::visit(JsonMaker{}, field.value.value());
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// What stands below the log on the terminal. Its lock orders whole lines, so that nothing comes between
/// wiping and drawing.
struct LiveText {
  std::mutex mutex;
  std::string text;
};

LiveText& Live() {
  static LiveText& live = *new LiveText();
  return live;
}

void Wipe(const std::string& text) {
  const auto lines = std::count(text.begin(), text.end(), '\n');
  if (lines > 0) std::fputs(fmt::format("\x1b[{}A\x1b[J", lines).c_str(), stderr);
}

void Draw(const std::string& text) {
  if (text.empty()) return;
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

void Write(Level level, std::string_view message, const std::vector<LogField>& fields) {
  if (!LogEnabled(level)) return;
  LogState& state = State();
  std::shared_ptr<spdlog::logger> logger;
  LogOptions options;
  {
    const std::lock_guard lock(state.mutex);
    logger = state.logger;
    options = state.options;
  }
  const std::string line = options.format == LogFormat::kJson ? JsonLine(level, message, fields)
                                                              : TextLine(level, message, fields);
  LiveText& live = Live();
  const std::lock_guard lock(live.mutex);
  Wipe(live.text);
  logger->log(ToSpdlog(level), spdlog::string_view_t(line));
  Draw(live.text);
}

int64_t MonotonicNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

bool LogEnabled(Level level) { return level >= min_level.load(std::memory_order_relaxed); }

void Log(Level level, std::string_view message, LogFields fields) {
  if (LogEnabled(level)) Write(level, message, fields);
}

void ConfigureLogging(const LogOptions& options) {
  LogState& state = State();
  const std::lock_guard lock(state.mutex);
  state.options = options;
  min_level.store(options.min_level);
}

void SetLiveText(std::string text) {
  LiveText& live = Live();
  const std::lock_guard lock(live.mutex);
  Wipe(live.text);
  live.text = std::move(text);
  Draw(live.text);
  std::fflush(stderr);
}

void RateLimitedLog::Log(Level level, std::string_view message, LogFields fields) {
  if (!LogEnabled(level)) return;
  std::vector<LogField> all = fields;
  {
    const std::lock_guard lock(mutex_);
    const int64_t now_ns = MonotonicNs();
    if (now_ns < next_ns_) {
      ++suppressed_;
      return;
    }
    next_ns_ = now_ns + interval_ms_ * 1'000'000;
    if (suppressed_ > 0) all.push_back({"suppressed", suppressed_});
    suppressed_ = 0;
  }
  Write(level, message, all);
}

LogCapture::LogCapture(const LogOptions& options) {
  LogState& state = State();
  {
    const std::lock_guard lock(state.mutex);
    state.captured.str({});
    state.logger = MakeLogger(std::make_shared<spdlog::sinks::ostream_sink_mt>(state.captured));
  }
  ConfigureLogging(options);
}

LogCapture::~LogCapture() {
  ConfigureLogging({});
  LogState& state = State();
  const std::lock_guard lock(state.mutex);
  state.logger = MakeLogger(std::make_shared<spdlog::sinks::stderr_sink_mt>());
}

std::string LogCapture::text() const {
  LogState& state = State();
  const std::lock_guard lock(state.mutex);
  return state.captured.str();
}

}  // namespace firn::obs
