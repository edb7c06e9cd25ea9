#include "firn/decode/kafka_columns.h"

#include <arrow/api.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/base/bytes.h"
#include "firn/decode/evolution.h"
#include "firn/iceberg/scan/arrow_error.h"
#include "firn/iceberg/scan/arrow_schema.h"

namespace firn::decode {

using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;
using record::RawBatch;

namespace {

constexpr int64_t kMicrosPerMs = 1000;

NestedField OptionalField(std::string name, iceberg::TypePtr type) {
  NestedField field;
  field.name = std::move(name);
  field.type = std::move(type);
  return field;
}

/// Type equality that does not look at ids.
bool SameShape(const Type& a, const Type& b) {
  if (a.id() != b.id() || a.fields().size() != b.fields().size()) return false;
  for (size_t i = 0; i < a.fields().size(); ++i) {
    if (a.id() == TypeId::kStruct && a.fields()[i].name != b.fields()[i].name) return false;
    if (!SameShape(*a.fields()[i].type, *b.fields()[i].type)) return false;
  }
  return true;
}

std::string ToText(std::string_view bytes) {
  if (IsValidUtf8(bytes)) return std::string(bytes);
  std::string text;
  for (const char c : bytes) {
    if (static_cast<uint8_t>(c) < 0x80) {
      text += c;
    } else {
      text += "\xEF\xBF\xBD";
    }
  }
  return text;
}

Status CheckShape(const NestedField& column) {
  const iceberg::TypePtr expected = KafkaColumnType();
  const auto mistake = [&](std::string_view what) {
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("kafka_columns: the table's column '{}' {}; expected {}", kKafkaColumn, what,
                             expected->ToString()))
        .WithRemedy("Rename that column, or set kafka_columns: false.");
  };
  if (column.type->id() != TypeId::kStruct) return mistake("is " + column.type->ToString());
  for (const NestedField& field : column.type->fields()) {
    const NestedField* known = expected->FindField(field.name);
    if (known == nullptr && field.required)
      return mistake(fmt::format("has a required field '{}'", field.name));
    if (known != nullptr && !SameShape(*known->type, *field.type))
      return mistake(fmt::format("has '{}' as {}", field.name, field.type->ToString()));
  }
  return Ok();
}

/// The column for the rows of one batch.
class KafkaRows {
 public:
  KafkaRows(const RawBatch& raw, const std::vector<uint32_t>& records, arrow::MemoryPool* pool)
      : raw_(raw), records_(records), pool_(pool) {}

  Result<std::shared_ptr<arrow::Array>> Build(const arrow::DataType& type) const {
    arrow::ArrayVector children;
    for (const auto& field : type.fields()) {
      FIRN_ASSIGN(auto child, BuildField(field->name(), field->type()));
      children.push_back(std::move(child));
    }
    return std::static_pointer_cast<arrow::Array>(
        std::make_shared<arrow::StructArray>(std::make_shared<arrow::StructType>(type.fields()),
                                             static_cast<int64_t>(records_.size()), std::move(children)));
  }

 private:
  using ArrayPtr = std::shared_ptr<arrow::Array>;

  Result<ArrayPtr> BuildField(const std::string& name, const std::shared_ptr<arrow::DataType>& type) const {
    if (name == "topic") {
      return Fill(arrow::StringBuilder(pool_),
                  [&](auto& builder, uint32_t) { return builder.Append(raw_.partition.topic); });
    }
    if (name == "partition") {
      return Fill(arrow::Int32Builder(pool_),
                  [&](auto& builder, uint32_t) { return builder.Append(raw_.partition.partition); });
    }
    if (name == "offset") {
      return Fill(arrow::Int64Builder(pool_),
                  [&](auto& builder, uint32_t i) { return builder.Append(raw_.offsets[i]); });
    }
    if (name == "timestamp") {
      return Fill(arrow::TimestampBuilder(type, pool_), [&](auto& builder, uint32_t i) {
        const int64_t ms = raw_.timestamps_ms[i];
        return ms < 0 || ms > INT64_MAX / kMicrosPerMs ? builder.AppendNull()
                                                       : builder.Append(ms * kMicrosPerMs);
      });
    }
    if (name == "key") {
      return Fill(arrow::BinaryBuilder(pool_), [&](auto& builder, uint32_t i) {
        return raw_.keys[i].is_null() ? builder.AppendNull() : builder.Append(raw_.key(i));
      });
    }
    if (name == "headers") return BuildHeaders(type);
    FIRN_ARROW_ASSIGN(auto nulls, arrow::MakeArrayOfNull(type, static_cast<int64_t>(records_.size()), pool_));
    return nulls;
  }

  template <typename Builder, typename Append>
  Result<ArrayPtr> Fill(Builder&& builder, Append&& append) const {
    FIRN_ARROW_TRY(builder.Reserve(static_cast<int64_t>(records_.size())));
    for (const uint32_t record : records_) FIRN_ARROW_TRY(append(builder, record));
    FIRN_ARROW_ASSIGN(auto array, builder.Finish());
    return array;
  }

  Result<ArrayPtr> BuildHeaders(const std::shared_ptr<arrow::DataType>& type) const {
    const auto names = std::make_shared<arrow::StringBuilder>(pool_);
    const auto values = std::make_shared<arrow::BinaryBuilder>(pool_);
    const auto entries = std::make_shared<arrow::StructBuilder>(
        type->field(0)->type(), pool_, std::vector<std::shared_ptr<arrow::ArrayBuilder>>{names, values});
    arrow::ListBuilder lists(pool_, entries, type);
    auto header = raw_.headers.begin();
    for (const uint32_t record : records_) {
      FIRN_ARROW_TRY(lists.Append());
      while (header != raw_.headers.end() && header->record < record) ++header;
      for (; header != raw_.headers.end() && header->record == record; ++header) {
        FIRN_ARROW_TRY(entries->Append());
        FIRN_ARROW_TRY(names->Append(ToText(raw_.arena.View(header->name.begin, header->name.length))));
        FIRN_ARROW_TRY(header->value.is_null()
                           ? values->AppendNull()
                           : values->Append(raw_.arena.View(header->value.begin, header->value.length)));
      }
    }
    FIRN_ARROW_ASSIGN(auto array, lists.Finish());
    return array;
  }

  const RawBatch& raw_;
  const std::vector<uint32_t>& records_;
  arrow::MemoryPool* pool_;
};

class KafkaColumnsDecoder : public Decoder {
 public:
  KafkaColumnsDecoder(std::unique_ptr<Decoder> decoder, std::shared_ptr<arrow::Field> field, int column,
                      arrow::MemoryPool* pool)
      : decoder_(std::move(decoder)), field_(std::move(field)), column_(column), pool_(pool) {}

  Result<DecodeResult> Decode(const RawBatch& raw, size_t begin) override {
    if (column_ < 0) return AskForColumn();
    FIRN_ASSIGN(DecodeResult result, decoder_->Decode(raw, begin));
    if (result.batch.rows == nullptr) return result;
    FIRN_CHECK(static_cast<int64_t>(result.batch.records.size()) == result.batch.rows->num_rows(),
               "each row names its record");
    FIRN_ASSIGN(auto cells, KafkaRows(raw, result.batch.records, pool_).Build(*field_->type()));
    FIRN_ARROW_ASSIGN(result.batch.rows, result.batch.rows->SetColumn(column_, field_, cells));
    return result;
  }

  const iceberg::SchemaPtr& schema() const override { return decoder_->schema(); }

 private:
  static DecodeResult AskForColumn() {
    DecodeResult result;
    result.delta.emplace();
    result.delta->added.push_back(
        {0, std::string(kKafkaColumn), KafkaColumnType(), "Where the record stood in Kafka"});
    return result;
  }

  std::unique_ptr<Decoder> decoder_;
  std::shared_ptr<arrow::Field> field_;
  const int column_;  ///< -1: not there yet
  arrow::MemoryPool* pool_;
};

Error CannotAdd(std::string_view why) {
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("kafka_columns: the table has no column '{}', and it cannot be added: {}",
                           kKafkaColumn, why))
      .WithRemedy("Let schema_evolution add it, add it by hand, or set kafka_columns: false.");
}

}  // namespace

iceberg::TypePtr KafkaColumnType() {
  const auto primitive = [](TypeId id) { return Type::Primitive(id); };
  const auto header = Type::Struct(
      {OptionalField("key", primitive(TypeId::kString)), OptionalField("value", primitive(TypeId::kBinary))});
  return Type::Struct({OptionalField("topic", primitive(TypeId::kString)),
                       OptionalField("partition", primitive(TypeId::kInt)),
                       OptionalField("offset", primitive(TypeId::kLong)),
                       OptionalField("timestamp", primitive(TypeId::kTimestampTz)),
                       OptionalField("key", primitive(TypeId::kBinary)),
                       OptionalField("headers", Type::List(0, false, header))});
}

Result<std::unique_ptr<Decoder>> AddKafkaColumns(std::unique_ptr<Decoder> decoder, const BoundSchema& bound) {
  BoundSchema with_pool = bound;
  UseDefaultPool(&with_pool);
  const std::vector<NestedField>& columns = bound.schema->fields();
  const auto found = std::ranges::find(columns, kKafkaColumn, &NestedField::name);
  std::shared_ptr<arrow::Field> field;
  if (found != columns.end()) {
    FIRN_TRY(CheckShape(*found));
    FIRN_ASSIGN(field, iceberg::ToArrowField(*found));
  } else if (bound.evolution == Evolution::kNone) {
    return CannotAdd("schema_evolution is none");
  }
  for (const record::RefusedChange& refused : bound.refused) {
    if (refused.field_id == 0 && refused.name == kKafkaColumn) return CannotAdd(refused.why);
  }
  const int column = found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
  return std::unique_ptr<Decoder>(
      std::make_unique<KafkaColumnsDecoder>(std::move(decoder), std::move(field), column, with_pool.pool));
}

}  // namespace firn::decode
