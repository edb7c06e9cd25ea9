#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "firn/record/file_format.h"

namespace firn::record {

/// A text as a file's bytes, at most `piece` of them with each Read. For tests and fuzz targets.
class TextStream final : public ByteStream {
 public:
  TextStream(std::string text, size_t piece) : text_(std::move(text)), piece_(piece) {}
  Result<size_t> Read(char* out, size_t length) override {
    const size_t taken = std::min({length, piece_, text_.size() - at_});
    std::memcpy(out, text_.data() + at_, taken);
    at_ += taken;
    return taken;
  }

 private:
  std::string text_;
  size_t piece_;
  size_t at_ = 0;
};

}  // namespace firn::record
