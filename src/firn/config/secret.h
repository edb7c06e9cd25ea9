#pragma once

#include <fmt/format.h>

#include <ostream>
#include <string>
#include <utility>

namespace firn::config {

/// Text that must not be seen: it prints as `***` wherever it goes. `Reveal` where it is used, and nowhere
/// else.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  const std::string& Reveal() const { return text_; }
  bool empty() const { return text_.empty(); }
  bool operator==(const Secret&) const = default;

 private:
  std::string text_;
};

inline std::ostream& operator<<(std::ostream& out, const Secret& /*secret*/) { return out << "***"; }

}  // namespace firn::config

template <>
struct fmt::formatter<firn::config::Secret> : fmt::formatter<std::string_view> {
  auto format(const firn::config::Secret& /*secret*/, format_context& context) const {
    return fmt::formatter<std::string_view>::format("***", context);
  }
};
