#include "firn/decode/json/token_index.h"

#include <simdjson.h>

#include <algorithm>
#include <new>

namespace firn::decode {

namespace {

constexpr size_t kFirstCapacity = 4096;

}  // namespace

struct TokenIndex::Stage {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
};

TokenIndex::TokenIndex() : stage_(std::make_unique<Stage>()) {
  const auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(
      kFirstCapacity, simdjson::DEFAULT_MAX_DEPTH, stage_->parser);
  if (error != simdjson::SUCCESS) throw std::bad_alloc();
}

TokenIndex::~TokenIndex() = default;

IndexOutcome TokenIndex::Index(std::string_view text) {
  begin_ = end_ = nullptr;
  if (text.empty()) return IndexOutcome::kEmpty;
  auto& parser = *stage_->parser;
  if (text.size() > parser.capacity()) {
    const size_t capacity = std::max(text.size(), parser.capacity() * 2);
    if (parser.allocate(capacity, simdjson::DEFAULT_MAX_DEPTH) != simdjson::SUCCESS) throw std::bad_alloc();
  }
  const auto error = parser.stage1(reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                                   simdjson::stage1_mode::regular);
  switch (error) {
    case simdjson::SUCCESS:
      begin_ = parser.structural_indexes.get();
      end_ = begin_ + parser.n_structural_indexes;
      return IndexOutcome::kOk;
    case simdjson::EMPTY:
      return IndexOutcome::kEmpty;
    case simdjson::UTF8_ERROR:
      return IndexOutcome::kInvalidUtf8;
    default:
      return IndexOutcome::kMalformed;
  }
}

uint8_t* TokenIndex::Unescape(const uint8_t* after_quote, uint8_t* out) const {
  return stage_->parser->parse_string(after_quote, out);
}

}  // namespace firn::decode
