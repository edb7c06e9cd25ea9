#include "firn/config/problems.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace firn::config {

void Problems::Add(const Node& node, std::string message) {
  Add(node.place(), node.path(), std::move(message));
}

void Problems::Add(Place place, std::string path, std::string message) {
  problems_.push_back({std::move(place), std::move(path), std::move(message)});
}

std::vector<Problems::Problem> Problems::Sorted() const {
  std::vector<size_t> order(problems_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [this](size_t i) {
    const Place& place = problems_[i].place;
    return std::make_tuple(place.file ? *place.file : std::string(), place.line, place.column, i);
  });
  std::vector<Problem> sorted;
  for (const size_t i : order) sorted.push_back(problems_[i]);
  return sorted;
}

std::string Problems::ToString() const {
  std::string out;
  for (const Problem& problem : Sorted()) {
    if (!out.empty()) out += '\n';
    const std::string place = problem.place.ToString();
    if (!place.empty()) out += place + ": ";
    if (!problem.path.empty()) out += problem.path + ": ";
    out += problem.message;
  }
  return out;
}

Status Problems::ToStatus() const {
  if (empty()) return Ok();
  return Error(ErrorKind::kInvalidArgument, ToString());
}

}  // namespace firn::config
