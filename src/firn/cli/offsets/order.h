#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/base/result.h"
#include "firn/cli/command.h"
#include "firn/cli/pipeline_access.h"
#include "firn/pipeline/position_order.h"

namespace firn::cli {

/// `orders:3=1200`: partition 3 of topic `orders` at 1200. A topic's name may hold colons.
Result<std::pair<record::SourcePartition, int64_t>> ParseOffsetArgument(std::string_view text);

/// What `set` and `reset` both take.
struct OrderOptions {
  std::vector<std::string> topics;  ///< only their partitions; empty: of all
  bool yes = false;                 ///< commit it; else only show what would change
  bool json = false;

  void Declare(Arguments& arguments);
};

/// Works the order out, shows it, and with `yes` commits it to the pipeline's table.
Result<ExitCode> GiveOrder(Context& context, const ChosenPipeline& chosen,
                           const pipeline::PositionTarget& target, const OrderOptions& options);

}  // namespace firn::cli
