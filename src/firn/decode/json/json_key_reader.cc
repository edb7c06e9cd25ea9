#include "firn/decode/json/json_key_reader.h"

#include <algorithm>
#include <utility>

#include "firn/decode/json/walker.h"
#include "firn/decode/number.h"
#include "firn/decode/wanted_fields.h"

namespace firn::decode {

namespace {

class JsonKeyReader final : public KeyReader {
 public:
  explicit JsonKeyReader(const std::vector<std::string>& paths)
      : root_(TreeOf(paths)), values_(paths.size()), texts_(paths.size()) {}

  const std::vector<std::optional<std::string_view>>& Read(const record::RawBatch& raw,
                                                           size_t record) override {
    Clear();
    if (raw.values[record].is_null()) return values_;
    if (walker_.Start(raw.value(record)) != IndexOutcome::kOk || !walker_.TakeIf('{') || !Object(root_))
      Clear();
    return values_;
  }

 private:
  void Clear() { std::ranges::fill(values_, std::nullopt); }

  /// Behind the opening brace. False when the text is malformed.
  bool Object(const WantedField& wanted) {
    if (walker_.TakeIf('}')) return true;
    if (!walker_.Descend()) return false;
    for (;;) {
      if (walker_.Peek() != '"') return false;
      std::string_view key;
      if (!walker_.ReadString(walker_.Take(), &key)) return false;
      const WantedField* member = wanted.Find(key);
      if (!walker_.TakeIf(':') || !Value(member) || walker_.at_end()) return false;
      if (walker_.TakeIf('}')) break;
      if (!walker_.TakeIf(',')) return false;
    }
    walker_.Ascend();
    return true;
  }

  bool Value(const WantedField* wanted) {
    if (wanted == nullptr) return walker_.SkipValue() != nullptr;
    if (wanted->field) values_[*wanted->field].reset();  // of a key that comes twice the later one counts
    const uint8_t first = walker_.Peek();
    if (first == '{' && !wanted->below.empty()) {
      walker_.Take();
      return Object(*wanted);
    }
    if (first == '{' || first == '[' || first == 'n' || !wanted->field) return walker_.SkipValue() != nullptr;
    if (first == '"') return Text(*wanted->field);
    const auto* begin = reinterpret_cast<const char*>(walker_.next());
    const auto* end = reinterpret_cast<const char*>(walker_.SkipValue());
    if (end == nullptr) return false;
    const std::string_view text(begin, static_cast<size_t>(end - begin));
    if (text.find_first_of(".eE") == std::string_view::npos || first == 't' || first == 'f')
      values_[*wanted->field] = text;
    return true;
  }

  bool Text(size_t field) {
    std::string_view text;
    if (!walker_.ReadString(walker_.Take(), &text)) return false;
    texts_[field].assign(text);  // the walker's buffer is used again
    values_[field] = texts_[field];
    return true;
  }

  const WantedField root_;
  Walker walker_;
  std::vector<std::optional<std::string_view>> values_;
  std::vector<std::string> texts_;
};

}  // namespace

Result<std::unique_ptr<KeyReader>> MakeJsonKeyReader(const std::vector<std::string>& paths) {
  return std::unique_ptr<KeyReader>(std::make_unique<JsonKeyReader>(paths));
}

}  // namespace firn::decode
