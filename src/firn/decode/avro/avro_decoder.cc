#include "firn/decode/avro/avro_decoder.h"

#include <map>
#include <unordered_map>
#include <utility>

#include "firn/decode/avro/datum_reader.h"
#include "firn/decode/avro/decode_plan.h"
#include "firn/decode/avro/record_target.h"
#include "firn/decode/reasons.h"
#include "firn/decode/row_decoder.h"

namespace firn::decode {

namespace {

/// A writer schema and what it comes to for the bound columns.
struct Compiled {
  WriterSchemaPtr writer;
  DecodePlan plan;  ///< of a usable schema
  bool usable() const { return writer->schema != nullptr; }
};

class AvroReader final : public RowReader {
 public:
  AvroReader(std::unique_ptr<BoundTarget> target, std::shared_ptr<WriterSchemas> schemas)
      : target_(std::move(target)), schemas_(std::move(schemas)), reader_(target_.get()) {}

  Status Enter(const record::RawBatch& raw, size_t begin) override {
    of_file_ = nullptr;
    last_ = nullptr;
    if (raw.file != nullptr && !raw.file->schema.empty()) {
      of_file_ = &OfFile(raw.file->schema);
      return Ok();
    }
    return schemas_ == nullptr ? Ok() : Prepare(raw, begin);
  }

  RowOutcome Read(const record::RawBatch& raw, size_t i) override {
    std::string_view datum = raw.value(i);
    const Compiled* compiled = of_file_ != nullptr ? of_file_ : Find(datum, &datum);
    if (compiled == nullptr) return Bad(unframed_);
    if (!compiled->usable()) return Bad(compiled->writer->failure);
    if (!compiled->plan.needs.empty()) {
      needs_ = &compiled->plan.needs;
      ignored_ = 0;
      return RowOutcome::kNeedsChange;
    }
    const RowOutcome outcome = reader_.Read(compiled->plan, datum);
    failure_ = &reader_.failure();
    ignored_ = reader_.unknown_fields_ignored();
    return outcome;
  }

  const BoundSchema& bound() const override { return target_->bound(); }
  Column& root() override { return target_->root(); }
  int32_t field_count() const override { return target_->field_count(); }
  const Failure& failure() const override { return *failure_; }
  const Needs& needs() const override { return *needs_; }
  int64_t unknown_fields_ignored() const override { return ignored_; }

 private:
  RowOutcome Bad(const Failure& failure) {
    failure_ = &failure;
    ignored_ = 0;
    return RowOutcome::kBad;
  }

  Compiled Compile(WriterSchemaPtr writer) {
    Compiled compiled{std::move(writer), {}};
    if (compiled.usable()) compiled.plan = CompilePlan(compiled.writer->schema->root(), *target_);
    return compiled;
  }

  const Compiled& OfFile(const std::string& schema) {
    if (by_text_.size() > kMaxPlans) by_text_.clear();
    const auto found = by_text_.find(schema);
    if (found != by_text_.end()) return found->second;
    return by_text_.emplace(schema, Compile(MakeWriterSchema(schema, {}, "the file's schema"))).first->second;
  }

  /// Has the plan of every record at hand, so that the records can be read without asking.
  Status Prepare(const record::RawBatch& raw, size_t begin) {
    if (std::exchange(is_prepared_, false)) {
      if (by_key_.size() > kMaxPlans) by_key_.clear();
      // What cannot be used today may be there tomorrow: it is the cache that remembers for how long.
      std::erase_if(by_key_, [](const auto& entry) { return !entry.second.usable(); });
    }
    uint64_t last_key = 0;
    bool has_last = false;
    for (size_t i = begin; i < raw.size(); ++i) {
      uint64_t key = 0;
      std::string_view datum;
      if (raw.values[i].is_null() || !schemas_->Unframe(raw.value(i), &key, &datum, &unframed_)) continue;
      if (has_last && key == last_key) continue;
      last_key = key;
      has_last = true;
      if (by_key_.contains(key)) continue;
      FIRN_ASSIGN(WriterSchemaPtr writer, schemas_->Find(key));
      by_key_.emplace(key, Compile(std::move(writer)));
    }
    is_prepared_ = true;
    return Ok();
  }

  const Compiled* Find(std::string_view bytes, std::string_view* datum) {
    if (schemas_ == nullptr) {
      unframed_ = {reason::kUnframedAvro,
                   "the record does not come from a container file, and no schema is configured"};
      return nullptr;
    }
    uint64_t key = 0;
    if (!schemas_->Unframe(bytes, &key, datum, &unframed_)) return nullptr;
    if (last_ == nullptr || key != last_key_) {
      last_ = &by_key_.at(key);
      last_key_ = key;
    }
    return last_;
  }

  static constexpr size_t kMaxPlans = 1000;

  std::unique_ptr<BoundTarget> target_;
  std::shared_ptr<WriterSchemas> schemas_;
  DatumReader reader_;
  std::unordered_map<uint64_t, Compiled> by_key_;
  std::map<std::string, Compiled> by_text_;
  bool is_prepared_ = true;  ///< false: what was found is kept, as the same records are prepared again
  const Compiled* of_file_ = nullptr;
  const Compiled* last_ = nullptr;
  uint64_t last_key_ = 0;
  Failure unframed_;
  const Failure* failure_ = nullptr;
  const Needs* needs_ = nullptr;
  int64_t ignored_ = 0;
};

}  // namespace

Result<std::unique_ptr<Decoder>> MakeAvroDecoder(const BoundSchema& bound,
                                                 std::shared_ptr<WriterSchemas> schemas) {
  return BindDecoder(bound, [&](const BoundSchema& with_pool) -> Result<std::unique_ptr<Decoder>> {
    FIRN_ASSIGN(auto target, BoundTarget::Make(with_pool));
    return MakeRowDecoder(std::make_unique<AvroReader>(std::move(target), std::move(schemas)));
  });
}

}  // namespace firn::decode
