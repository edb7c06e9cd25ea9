#include "firn/decode/csv/csv_key_reader.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "firn/decode/csv/record_fields.h"

namespace firn::decode {

namespace {

class CsvKeyReader final : public KeyReader {
 public:
  CsvKeyReader(const CsvDialect& dialect, std::vector<std::string> names)
      : fields_(dialect), wanted_(std::move(names)), places_(wanted_.size()), values_(wanted_.size()) {}

  Status Enter(const record::RawBatch& raw) override {
    header_is_good_ = fields_.Enter(raw);
    return Ok();
  }

  const std::vector<std::optional<std::string_view>>& Read(const record::RawBatch& raw,
                                                           size_t record) override {
    std::ranges::fill(values_, std::nullopt);
    if (!header_is_good_ || raw.values[record].is_null() || !fields_.Split(raw.value(record))) return values_;
    FindNames();
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (places_[i] >= fields_.fields().size()) continue;
      const CsvField& field = fields_.fields()[places_[i]];
      if (!field.is_null) values_[i] = field.text;
    }
    return values_;
  }

 private:
  /// Which field has which name; found anew when the names change.
  void FindNames() {
    if (names_version_ == fields_.names_version()) return;
    names_version_ = fields_.names_version();
    const std::vector<std::string>& names = fields_.names();
    for (size_t i = 0; i < wanted_.size(); ++i) {
      const auto found = std::ranges::find(names, wanted_[i]);
      places_[i] = found == names.end() ? SIZE_MAX : static_cast<size_t>(found - names.begin());
    }
  }

  RecordFields fields_;
  const std::vector<std::string> wanted_;
  std::vector<size_t> places_;
  int64_t names_version_ = -1;
  bool header_is_good_ = true;
  std::vector<std::optional<std::string_view>> values_;
};

}  // namespace

Result<std::unique_ptr<KeyReader>> MakeCsvKeyReader(const CsvDialect& dialect,
                                                    const std::vector<std::string>& names) {
  return std::unique_ptr<KeyReader>(std::make_unique<CsvKeyReader>(dialect, names));
}

}  // namespace firn::decode
