#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"
#include "firn/record/raw_batch.h"

namespace firn::decode {

/// A shallow look at records before they are decoded: the values of a few named fields, by which they are
/// told apart (RouteKey). Validates no more than it has to: what is wrong with a record is the decoder's to
/// say. One per lane; not thread-safe.
class KeyReader {
 public:
  virtual ~KeyReader() = default;
  /// Before the records of a batch are read. Retriable while a schema registry has not told what they were
  /// written with: enter the same batch again after a pause. Never waits for long.
  virtual Status Enter(const record::RawBatch& /*raw*/) { return Ok(); }
  /// Of a record of the batch entered last. Values of the fields in the order they were asked for: text as it
  /// is, integers and booleans as they are written. Empty where the field is missing or null, or holds an
  /// object, a list or a fraction, and for all fields of a record that cannot be read. Valid until the next
  /// call.
  virtual const std::vector<std::optional<std::string_view>>& Read(const record::RawBatch& raw,
                                                                   size_t record) = 0;
};

/// `paths`: dotted for nested fields.
using KeyReaderFactory =
    std::function<Result<std::unique_ptr<KeyReader>>(const std::vector<std::string>& paths)>;

}  // namespace firn::decode
