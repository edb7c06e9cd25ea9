#include "firn/base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "firn/base/bytes.h"

namespace firn {

namespace {

struct Unit {
  std::string_view name;
  int64_t factor;
};

// Largest first: the text functions take the first that divides.
constexpr std::array<Unit, 5> kDurationUnits = {
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::array<Unit, 4> kBinaryUnits = {
    {{"TiB", 1LL << 40}, {"GiB", 1LL << 30}, {"MiB", 1LL << 20}, {"KiB", 1LL << 10}}};
constexpr std::array<Unit, 11> kByteUnits = {{{"TiB", 1LL << 40},
                                              {"GiB", 1LL << 30},
                                              {"MiB", 1LL << 20},
                                              {"KiB", 1LL << 10},
                                              {"TB", 1'000'000'000'000},
                                              {"GB", 1'000'000'000},
                                              {"MB", 1'000'000},
                                              {"KB", 1000},
                                              {"kB", 1000},
                                              {"B", 1},
                                              {"", 1}}};

const Unit* FindUnit(std::span<const Unit> units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Takes "<digits><unit>" off the front of `text` and adds it to `sum`.
bool TakeTerm(std::string_view& text, std::span<const Unit> units, int64_t& sum) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  size_t length = 0;
  while (length < text.size() && !IsDigit(text[length])) ++length;
  const Unit* unit = FindUnit(units, text.substr(0, length));
  if (unit == nullptr) return false;
  text.remove_prefix(length);
  int64_t term = 0;
  return !__builtin_mul_overflow(number, unit->factor, &term) && !__builtin_add_overflow(sum, term, &sum);
}

std::string ExactText(int64_t value, std::span<const Unit> units, std::string_view plain) {
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0) return fmt::format("{}{}", value / unit.factor, unit.name);
  }
  return fmt::format("{}{}", value, plain);
}

std::string TwoUnits(int64_t whole, std::string_view big, int64_t rest, std::string_view small) {
  if (rest == 0) return fmt::format("{} {}", whole, big);
  return fmt::format("{} {} {} {}", whole, big, rest, small);
}

}  // namespace

Result<int64_t> ParseDurationMs(std::string_view text) {
  if (text == "0") return int64_t{0};
  int64_t ms = 0;
  std::string_view rest = text;
  do {
    if (!TakeTerm(rest, kDurationUnits, ms)) {
      return Error(ErrorKind::kInvalidArgument,
                   "'" + Excerpt(text) +
                       "' is not a duration: a whole number with a unit (ms, s, m, h, d), like 60s or 1h30m");
    }
  } while (!rest.empty());
  return ms;
}

Result<int64_t> ParseBytes(std::string_view text) {
  int64_t bytes = 0;
  std::string_view rest = text;
  if (!TakeTerm(rest, kByteUnits, bytes) || !rest.empty()) {
    return Error(
        ErrorKind::kInvalidArgument,
        "'" + Excerpt(text) +
            "' is not a size: a whole number of bytes, or one with KiB, MiB, GiB, TiB (or KB, MB, GB, TB)");
  }
  return bytes;
}

std::string DurationText(int64_t ms) { return ExactText(ms, kDurationUnits, "ms"); }
std::string BytesText(int64_t bytes) { return ExactText(bytes, kBinaryUnits, ""); }

std::string HumanCount(int64_t count) {
  std::string out = std::to_string(count);
  const size_t first = count < 0 ? 1 : 0;
  for (size_t at = out.size(); at > first + 3; at -= 3) out.insert(at - 3, 1, ',');
  return out;
}

std::string HumanShort(double value) {
  constexpr std::array<std::string_view, 5> kSuffixes = {"", "k", "M", "G", "T"};
  size_t suffix = 0;
  while (std::abs(value) >= 999.5 && suffix + 1 < kSuffixes.size()) {
    value /= 1000;
    ++suffix;
  }
  if (suffix == 0) return fmt::format("{:.0f}", value);
  const double magnitude = std::abs(value);
  return fmt::format("{:.{}f}{}", value,
                     magnitude < 9.995   ? 2
                     : magnitude < 99.95 ? 1
                                         : 0,
                     kSuffixes[suffix]);
}

std::string HumanBytes(int64_t bytes) {
  constexpr std::array<std::string_view, 5> kSuffixes = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes > -1024 && bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t suffix = 0;
  while (std::abs(value) >= 1023.95 && suffix + 1 < kSuffixes.size()) {
    value /= 1024;
    ++suffix;
  }
  return fmt::format("{:.1f} {}", value, kSuffixes[suffix]);
}

std::string HumanDurationMs(int64_t ms) {
  if (ms < 0) return "-" + HumanDurationMs(ms == INT64_MIN ? INT64_MAX : -ms);
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 60'000) return fmt::format("{:.1f} s", std::floor(static_cast<double>(ms) / 100) / 10);
  const int64_t seconds = ms / 1000;
  if (seconds < 3600) return TwoUnits(seconds / 60, "min", seconds % 60, "s");
  if (seconds < 86'400) return TwoUnits(seconds / 3600, "h", seconds / 60 % 60, "min");
  return TwoUnits(seconds / 86'400, "d", seconds / 3600 % 24, "h");
}

}  // namespace firn
