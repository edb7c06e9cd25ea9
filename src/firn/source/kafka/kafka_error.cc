#include "firn/source/kafka/kafka_error.h"

#include <fmt/format.h>

namespace firn::source::kafka {

namespace {

ErrorKind KindOf(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return ErrorKind::kPermissionDenied;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      return ErrorKind::kNotFound;
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
      return ErrorKind::kTimeout;
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR__LOG_TRUNCATION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_ID:
      return ErrorKind::kDataLoss;
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
      return ErrorKind::kCorrupt;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
      return ErrorKind::kInvalidArgument;
    case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE:
      return ErrorKind::kUnsupported;
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
    case RD_KAFKA_RESP_ERR__FENCED:
      return ErrorKind::kConflict;
    case RD_KAFKA_RESP_ERR__STATE:
    case RD_KAFKA_RESP_ERR__CONFLICT:
      return ErrorKind::kInternal;
    default:
      return ErrorKind::kUnavailable;
  }
}

std::string_view RemedyOf(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
      return "Check sasl.mechanism, sasl.username and sasl.password under properties.";
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      return "Give this user Read and Describe on the topic.";
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
      return "Give this user Read on the group (group_id).";
    case RD_KAFKA_RESP_ERR__SSL:
      return "Check security.protocol and the ssl.* properties (ssl.ca.location ...).";
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
      return "Check bootstrap_servers, and that the addresses the brokers advertise can be reached from "
             "here.";
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
      return "Raise fetch.message.max.bytes and receive.message.max.bytes under properties.";
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
      return "The broker holds damaged data there. Have a replica that is whole lead the partition, or go on "
             "behind the damaged batch (kafka-dump-log tells its last offset): firn offsets set FILE "
             "--offset TOPIC:PARTITION=OFFSET.";
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
      return "Give each process a group_instance_id of its own, or none.";
    default:
      return "";
  }
}

}  // namespace

bool IsPassing(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR__NOENT:  // "No leaders found", while brokers restart
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
    case RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
    case RD_KAFKA_RESP_ERR_UNKNOWN:
    case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED:
      return true;
    default:
      return false;
  }
}

Error FromKafka(rd_kafka_resp_err_t code, std::string_view what, std::string_view detail) {
  const std::string_view text = detail.empty() ? std::string_view(rd_kafka_err2str(code)) : detail;
  const ErrorKind kind = KindOf(code);
  const bool user = kind == ErrorKind::kPermissionDenied || kind == ErrorKind::kInvalidArgument ||
                    kind == ErrorKind::kNotFound || kind == ErrorKind::kConflict;
  Error error(kind, fmt::format("{}: {}", what, text));
  return std::move(error)
      .WithDomain(user ? ErrorDomain::kUser
                       : (kind == ErrorKind::kInternal ? ErrorDomain::kInternal : ErrorDomain::kExternal))
      .WithRetry(IsPassing(code) && kind != ErrorKind::kPermissionDenied ? RetryHint::kYes : RetryHint::kNo)
      .WithRemedy(std::string(RemedyOf(code)));
}

}  // namespace firn::source::kafka
