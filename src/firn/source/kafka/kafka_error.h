#pragma once

#include <librdkafka/rdkafka.h>

#include <string_view>

#include "firn/base/error.h"

namespace firn::source::kafka {

/// "<what>: <detail or librdkafka's text>" with the kind, domain and retry hint of the code and a remedy
/// where there is one.
Error FromKafka(rd_kafka_resp_err_t code, std::string_view what, std::string_view detail = {});

/// Trouble that librdkafka gets over by itself: brokers or leaders that cannot answer now.
bool IsPassing(rd_kafka_resp_err_t code);

}  // namespace firn::source::kafka
