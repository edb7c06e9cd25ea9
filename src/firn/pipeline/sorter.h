#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "firn/base/result.h"
#include "firn/decode/key_reader.h"
#include "firn/pipeline/target.h"
#include "firn/record/dead_letter.h"
#include "firn/record/raw_batch.h"
#include "firn/route/router.h"

namespace firn::pipeline {

/// Records of one raw batch that go to one place. `raw` covers the whole range of the batch it comes from:
/// every record of that target in the range is in it.
struct SortedRecords {
  TargetPtr target;
  record::RawBatch raw;
};

/// A raw batch by targets, and what has none.
struct Sorted {
  std::vector<SortedRecords> parts;
  std::vector<record::DeadLetter> letters;  ///< stage "route", in offset order
};

/// RouteKey: which table each record goes to, before it is decoded. By topic a raw batch goes through as it
/// is; only where fields decide are records looked at, and copied to batches of their targets. One per lane;
/// not thread-safe.
class Sorter {
 public:
  /// `key_reader` may be null when no rule looks at fields.
  Sorter(std::shared_ptr<const route::Router> router, TargetBook& book,
         std::unique_ptr<decode::KeyReader> key_reader)
      : router_(std::move(router)), book_(book), key_reader_(std::move(key_reader)) {}

  /// Whether a batch can be sorted now. Retriable: ask again after a pause (KeyReader::Enter).
  Status Prepare(const record::RawBatch& raw);
  /// Of the batch prepared last.
  Sorted Sort(record::RawBatch raw);

 private:
  struct Topic {
    std::shared_ptr<const route::TopicRoutes> routes;
    std::unique_ptr<TargetBook::Answer> constant;  ///< null: fields decide
    std::unordered_map<std::string, TargetBook::Answer> by_values;
  };

  Topic& TopicOf(const std::string& topic);
  const TargetBook::Answer& AnswerOf(Topic& topic, const record::RawBatch& raw, size_t record);
  TargetBook::Answer Resolve(const route::Route& route);

  std::shared_ptr<const route::Router> router_;
  TargetBook& book_;
  std::unique_ptr<decode::KeyReader> key_reader_;
  std::unordered_map<std::string, Topic> topics_;
};

}  // namespace firn::pipeline
