#include "firn/decode/json/json_decoder.h"

#include <utility>

#include "firn/decode/json/bound_record.h"
#include "firn/decode/json/row_parser.h"
#include "firn/decode/row_decoder.h"

namespace firn::decode {

namespace {

class JsonReader : public RowReader {
 public:
  explicit JsonReader(std::unique_ptr<BoundRecord> record)
      : record_(std::move(record)), parser_(record_.get()) {}

  RowOutcome Read(const record::RawBatch& raw, size_t i) override { return parser_.Parse(raw.value(i)); }
  const BoundSchema& bound() const override { return record_->bound(); }
  Column& root() override { return record_->root(); }
  int32_t field_count() const override { return record_->field_count(); }
  const Failure& failure() const override { return parser_.failure(); }
  const Needs& needs() const override { return parser_.needs(); }
  int64_t unknown_fields_ignored() const override { return parser_.unknown_fields_ignored(); }

 private:
  std::unique_ptr<BoundRecord> record_;
  RowParser parser_;
};

}  // namespace

Result<std::unique_ptr<Decoder>> MakeJsonDecoder(const BoundSchema& bound) {
  return BindDecoder(bound, [](const BoundSchema& with_pool) -> Result<std::unique_ptr<Decoder>> {
    FIRN_ASSIGN(auto record, BoundRecord::Make(with_pool));
    return MakeRowDecoder(std::make_unique<JsonReader>(std::move(record)));
  });
}

}  // namespace firn::decode
