#pragma once

#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/config/node.h"

namespace firn::config {

/// Everything that is wrong with a configuration, so that it is told at once and not one run at a time.
class Problems {
 public:
  struct Problem {
    Place place;
    std::string path;  ///< key path, may be empty
    std::string message;
  };

  void Add(const Node& node, std::string message);
  void Add(Place place, std::string path, std::string message);

  bool empty() const { return problems_.empty(); }
  size_t size() const { return problems_.size(); }
  /// In the order of file and line.
  std::vector<Problem> Sorted() const;
  /// One line each: `flights.yaml:12:5: pipelines.flights.commit.intervall: unknown key; did you mean
  /// "interval"?`
  std::string ToString() const;
  /// Ok, or kInvalidArgument with all lines.
  Status ToStatus() const;

 private:
  std::vector<Problem> problems_;
};

}  // namespace firn::config
