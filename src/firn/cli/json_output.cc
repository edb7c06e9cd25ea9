#include "firn/cli/json_output.h"

#include <nlohmann/json.hpp>

namespace firn::cli {

void PrintJson(Output& out, const nlohmann::json& json) {
  out.Write(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace firn::cli
