#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/source/kafka/config.h"
#include "firn/source/kafka/handles.h"

namespace firn::source::kafka {

/// What a client is for.
enum class ClientRole : uint8_t {
  kReader,  ///< the source's own: group member, reads ahead
  kProbe,   ///< reads single records for fingerprints; never joins the group
};

/// How much a reader may hold ahead of the lanes.
struct Prefetch {
  int lanes = 1;
  int64_t bytes = int64_t{64} << 20;  ///< over all lanes, librdkafka's own overhead included
};

/// librdkafka's configuration for a client: Firn's defaults, then the user's properties, then what Firn
/// decides. Errors name the property and the remedy; values of properties that may be secrets are never part
/// of a message.
Result<ConfPtr> MakeConf(const KafkaConfig& config, ClientRole role, const Prefetch& prefetch);

/// Checks one entry of `properties`: known to librdkafka, valid, and not one that Firn decides.
Status CheckProperty(std::string_view name, std::string_view value);

}  // namespace firn::source::kafka
