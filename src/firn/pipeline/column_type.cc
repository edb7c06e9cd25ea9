#include "firn/pipeline/column_type.h"

#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace firn::pipeline {

namespace {

using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypePtr;

constexpr int kMaxNesting = 64;
constexpr std::string_view kAllowedTypes =
    "boolean, int, long, float, double, decimal(P,S), date, time, timestamp, timestamptz, string, uuid, "
    "fixed[N], binary, "
    "timestamp_ns and timestamptz_ns (format version 3), list<T>, map<K, V>, struct<name: T, ...>";

/// Recursive descent over one type text.
class TypeParser {
 public:
  TypeParser(std::string_view text, int32_t& next_id) : text_(text), next_id_(next_id) {}

  Result<TypePtr> Parse() {
    FIRN_ASSIGN(TypePtr type, ParseType(0));
    SkipSpace();
    if (at_ != text_.size()) return Wrong("text after the type");
    return type;
  }

 private:
  Result<TypePtr> ParseType(int depth) {
    if (depth > kMaxNesting) return Wrong("nested too deeply");
    SkipSpace();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "list") return ParseList(depth);
    if (word == "map") return ParseMap(depth);
    if (word == "struct") return ParseStruct(depth);
    return ParsePrimitive(begin);
  }

  Result<TypePtr> ParsePrimitive(size_t begin) {
    SkipParameters('(', ')');
    SkipParameters('[', ']');
    const std::string_view word = text_.substr(begin, at_ - begin);
    Result<TypePtr> type = Type::ParsePrimitive(word);
    if (!type.ok()) return Wrong(word.empty() ? "a type is missing" : fmt::format("'{}' is no type", word));
    return type;
  }

  Result<TypePtr> ParseList(int depth) {
    const int32_t id = next_id_++;
    FIRN_TRY(Expect('<'));
    FIRN_ASSIGN(TypePtr element, ParseType(depth + 1));
    const bool required = TakeRequired();
    FIRN_TRY(Expect('>'));
    return Type::List(id, required, std::move(element));
  }

  Result<TypePtr> ParseMap(int depth) {
    const int32_t key_id = next_id_++;
    const int32_t value_id = next_id_++;
    FIRN_TRY(Expect('<'));
    FIRN_ASSIGN(TypePtr key, ParseType(depth + 1));
    FIRN_TRY(Expect(','));
    FIRN_ASSIGN(TypePtr value, ParseType(depth + 1));
    const bool required = TakeRequired();
    FIRN_TRY(Expect('>'));
    return Type::Map(key_id, std::move(key), value_id, required, std::move(value));
  }

  Result<TypePtr> ParseStruct(int depth) {
    FIRN_TRY(Expect('<'));
    std::vector<NestedField> fields;
    do {
      NestedField field;
      field.id = next_id_++;
      FIRN_ASSIGN(field.name, ParseName());
      static_cast<void>(Take(':'));
      FIRN_ASSIGN(field.type, ParseType(depth + 1));
      field.required = TakeRequired();
      fields.push_back(std::move(field));
    } while (Take(','));
    FIRN_TRY(Expect('>'));
    return Type::Struct(std::move(fields));
  }

  bool TakeRequired() {
    constexpr std::string_view kWord = "required";
    SkipSpace();
    if (!text_.substr(at_).starts_with(kWord)) return false;
    at_ += kWord.size();
    return true;
  }

  Result<std::string> ParseName() {
    SkipSpace();
    if (Take('`')) return ParseQuotedName();
    const size_t begin = at_;
    while (at_ < text_.size() && std::string_view(" \t:,<>`").find(text_[at_]) == std::string_view::npos)
      ++at_;
    if (at_ == begin) return Wrong("a field name is missing");
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<std::string> ParseQuotedName() {
    const size_t end = text_.find('`', at_);
    if (end == std::string_view::npos || end == at_) return Wrong("a quoted name has no end or is empty");
    std::string name(text_.substr(at_, end - at_));
    at_ = end + 1;
    return name;
  }

  void SkipParameters(char open, char close) {
    if (at_ >= text_.size() || text_[at_] != open) return;
    const size_t end = text_.find(close, at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
  }

  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool Take(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Status Expect(char c) {
    if (Take(c)) return Ok();
    return Wrong(fmt::format("'{}' is missing", c));
  }

  Error Wrong(std::string_view what) const {
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("type '{}', character {}: {}", text_, at_ + 1, what))
        .WithRemedy(fmt::format("Types are {}.", kAllowedTypes));
  }

  std::string_view text_;
  int32_t& next_id_;
  size_t at_ = 0;
};

std::string_view Required(bool required) { return required ? " required" : ""; }

}  // namespace

Result<TypePtr> ParseColumnType(std::string_view text, int32_t& next_id) {
  return TypeParser(text, next_id).Parse();
}

std::string QuotedName(std::string_view name) {
  const bool plain =
      !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
          std::string_view::npos;
  return plain ? std::string(name) : fmt::format("`{}`", name);
}

std::string ColumnTypeText(const Type& type) {
  switch (type.id()) {
    case iceberg::TypeId::kList:
      return fmt::format("list<{}{}>", ColumnTypeText(*type.element().type),
                         Required(type.element().required));
    case iceberg::TypeId::kMap:
      return fmt::format("map<{}, {}{}>", ColumnTypeText(*type.key().type),
                         ColumnTypeText(*type.value().type), Required(type.value().required));
    case iceberg::TypeId::kStruct: {
      std::string text;
      for (const NestedField& field : type.fields()) {
        text += fmt::format("{}{}: {}{}", text.empty() ? "" : ", ", QuotedName(field.name),
                            ColumnTypeText(*field.type), Required(field.required));
      }
      return fmt::format("struct<{}>", text);
    }
    default:
      return type.ToString();
  }
}

}  // namespace firn::pipeline
