#pragma once

#include <string>
#include <vector>

#include "firn/base/result.h"

namespace firn::cli {

class Arguments;

/// The pipeline files of a call: what was given, else `$FIRN_CONFIG`, else /etc/firn/firn.yaml.
/// kInvalidArgument with the three ways when there is none of them.
Result<std::vector<std::string>> ConfigFiles(const std::vector<std::string>& given);

/// Pipeline files as a command takes them: by place, and by -c for those used to it.
class FileArguments {
 public:
  void Declare(Arguments& arguments);
  /// All that were given, in that order.
  std::vector<std::string> given() const;

 private:
  std::vector<std::string> by_place_;
  std::vector<std::string> by_option_;
};

}  // namespace firn::cli
