#include "firn/base/text_distance.h"

#include <algorithm>
#include <vector>

namespace firn {

namespace {

std::string Folded(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return out;
}

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<size_t> before_last(width);
  std::vector<size_t> last(width);
  std::vector<size_t> row(width);
  for (size_t j = 0; j < width; ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j < width; ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string> NearestName(std::string_view name, std::span<const std::string> known) {
  const std::string folded = Folded(name);
  size_t best = std::max<size_t>(1, name.size() / 3) + 1;
  std::optional<std::string> nearest;
  for (const std::string& candidate : known) {
    const size_t distance = EditDistance(folded, Folded(candidate));
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace firn
