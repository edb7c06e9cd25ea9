#include "firn/source/kafka/kafka_error.h"

#include <gtest/gtest.h>

namespace firn::source::kafka {
namespace {

TEST(KafkaErrorTest, WhatARestartOfBrokersMendsIsTriedAgain) {
  for (const auto code : {RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
                          RD_KAFKA_RESP_ERR__NOENT, RD_KAFKA_RESP_ERR__TIMED_OUT}) {
    EXPECT_EQ(FromKafka(code, "listing offsets", "").retry(), RetryHint::kYes) << rd_kafka_err2name(code);
  }
}

TEST(KafkaErrorTest, WhatStaysAsItIsEndsTheRun) {
  for (const auto code : {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR__BAD_MSG,
                          RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID}) {
    EXPECT_EQ(FromKafka(code, "listing offsets", "").retry(), RetryHint::kNo) << rd_kafka_err2name(code);
  }
}

}  // namespace
}  // namespace firn::source::kafka
