#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>

namespace firn::source::kafka {

/// Owning pointers to librdkafka's objects.
template <auto Destroy>
struct Destroyer {
  template <typename T>
  void operator()(T* object) const {
    Destroy(object);
  }
};

using ConfPtr = std::unique_ptr<rd_kafka_conf_t, Destroyer<rd_kafka_conf_destroy>>;
using QueuePtr = std::unique_ptr<rd_kafka_queue_t, Destroyer<rd_kafka_queue_destroy>>;
using EventPtr = std::unique_ptr<rd_kafka_event_t, Destroyer<rd_kafka_event_destroy>>;
using MessagePtr = std::unique_ptr<rd_kafka_message_t, Destroyer<rd_kafka_message_destroy>>;
using ErrorPtr = std::unique_ptr<rd_kafka_error_t, Destroyer<rd_kafka_error_destroy>>;
using PartitionListPtr =
    std::unique_ptr<rd_kafka_topic_partition_list_t, Destroyer<rd_kafka_topic_partition_list_destroy>>;
using AdminOptionsPtr = std::unique_ptr<rd_kafka_AdminOptions_t, Destroyer<rd_kafka_AdminOptions_destroy>>;
using TopicCollectionPtr =
    std::unique_ptr<rd_kafka_TopicCollection_t, Destroyer<rd_kafka_TopicCollection_destroy>>;
using GroupOffsetsQueryPtr = std::unique_ptr<rd_kafka_ListConsumerGroupOffsets_t,
                                             Destroyer<rd_kafka_ListConsumerGroupOffsets_destroy>>;

}  // namespace firn::source::kafka
