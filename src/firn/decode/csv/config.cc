#include "firn/decode/csv/config.h"

#include <cctype>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace firn::decode {

namespace {

struct Quote {
  std::optional<char> c = CsvDialect{}.quote;
};

/// CsvDialect, as the keys of the file have it.
struct CsvKeys {
  std::string format = "csv";
  char delimiter = CsvDialect{}.delimiter;
  Quote quote;
  bool backslash_escapes = false;
  std::optional<bool> header;
  std::vector<std::string> columns;
  std::optional<char> comment;
  std::string null_text;
  bool trim = false;
  CsvEncoding encoding = CsvEncoding::kUtf8;
  RaggedRows ragged_rows = RaggedRows::kBad;
  int64_t max_record_bytes = CsvDialect{}.max_record_bytes;
};

constexpr std::string_view kCharacters = "one ASCII character, or a word: tab, comma, semicolon, pipe, space";

std::optional<char> CharacterNamed(std::string_view text) {
  if (text.size() == 1 && static_cast<unsigned char>(text[0]) < 0x80) return text[0];
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "comma") return ',';
  if (text == "semicolon") return ';';
  if (text == "pipe") return '|';
  if (text == "space") return ' ';
  return std::nullopt;
}

/// No character that numbers, names or line breaks are made of.
Result<char> ParseCharacter(std::string_view text) {
  const std::optional<char> c = CharacterNamed(text);
  const bool good = c && *c != '\0' && *c != '\n' && *c != '\r' && *c != '\\' && *c != '.' && *c != '-' &&
                    *c != '+' && std::isalnum(static_cast<unsigned char>(*c)) == 0;
  if (good) return *c;
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("expected {}; no letter, digit, dot, sign, backslash or line break", kCharacters));
}

std::string ShowCharacter(char c) { return c == '\t' ? "tab" : fmt::format("'{}'", c); }

config::TypePtr<char> Character() { return config::Parsed<char>("character", ParseCharacter, ShowCharacter); }

config::TypePtr<Quote> QuoteCharacter() {
  const auto parse = [](std::string_view text) -> Result<Quote> {
    if (text == "none") return Quote{std::nullopt};
    FIRN_ASSIGN(const char c, ParseCharacter(text));
    return Quote{c};
  };
  const auto show = [](const Quote& quote) { return quote.c ? ShowCharacter(*quote.c) : "none"; };
  return config::Parsed<Quote>("character or none", parse, show);
}

void CheckKeys(const CsvKeys& keys, config::Checker& check) {
  if (keys.quote.c == keys.delimiter) check.Fail("quote", "quote and delimiter are the same character");
  if (keys.comment && (*keys.comment == keys.delimiter || keys.comment == keys.quote.c))
    check.Fail("comment", "comment is the same character as delimiter or quote");
  std::set<std::string_view> names;
  for (const std::string& name : keys.columns) {
    if (!names.insert(name).second) check.Fail("columns", fmt::format("the name {} comes twice", name));
  }
}

const config::Schema<CsvKeys>& CsvSchema() {
  static const auto schema =
      config::Schema<CsvKeys>()
          .Field("format", &CsvKeys::format, config::Text(), "`csv`: each record is one CSV record.")
          .Field("delimiter", &CsvKeys::delimiter, Character(), "Between fields.")
          .Field("quote", &CsvKeys::quote, QuoteCharacter(),
                 "Around fields that hold delimiters, quotes or line breaks; `none`: there are no quotes.")
          .Field("escape", &CsvKeys::backslash_escapes,
                 config::Choice<bool>({{"doubled", false}, {"backslash", true}}),
                 "How a quote stands inside quotes. With `backslash` a backslash also takes its meaning from "
                 "the character behind it, inside and outside of quotes.")
          .Field("header", &CsvKeys::header, config::Boolean(),
                 "The first record (of a file, or of each message) holds the names of the fields.",
                 "true for files unless `columns` is set, false for messages")
          .Field("columns", &CsvKeys::columns, config::ListOf(config::Text()),
                 "Names of the fields in their order; a header is then passed over.",
                 "the header's, else the table's columns in their order")
          .Field("comment", &CsvKeys::comment, Character(),
                 "In files: lines that begin with it are passed over.", "none")
          .Field("null_text", &CsvKeys::null_text, config::Text({.allow_empty = true}),
                 "A field without quotes that reads exactly so is null.", "the empty field")
          .Field("trim", &CsvKeys::trim, config::Boolean(),
                 "Spaces and tabs around fields, and around quotes, are no part of them.")
          .Field("encoding", &CsvKeys::encoding,
                 config::Choice<CsvEncoding>({{"utf-8", CsvEncoding::kUtf8},
                                              {"utf-16le", CsvEncoding::kUtf16Le},
                                              {"utf-16be", CsvEncoding::kUtf16Be},
                                              {"latin1", CsvEncoding::kLatin1},
                                              {"windows-1252", CsvEncoding::kWindows1252}}),
                 "Of the records. A byte-order mark at the beginning is no part of the first field.")
          .Field("ragged_rows", &CsvKeys::ragged_rows,
                 config::Choice<RaggedRows>({{"bad_record", RaggedRows::kBad},
                                             {"allow_missing_trailing", RaggedRows::kAllowMissingTrailing}}),
                 "A record with fewer fields than names: a bad record, or null in the columns that miss. One "
                 "with more fields is always a bad record.")
          .Field("max_record_bytes", &CsvKeys::max_record_bytes,
                 config::Bytes({.min = 1024, .max = int64_t{256} << 20}),
                 "In files: a record of so many bytes is a bad one; a quote that does not end costs at most "
                 "this.")
          .Check(CheckKeys);
  return schema;
}

}  // namespace

bool ReadCsvConfig(const config::Node& node, config::Problems& problems, CsvDialect* dialect) {
  CsvKeys keys;
  if (!CsvSchema().Read(node, problems, &keys)) return false;
  dialect->delimiter = keys.delimiter;
  dialect->quote = keys.quote.c;
  dialect->backslash_escapes = keys.backslash_escapes;
  dialect->header = keys.header;
  dialect->columns = keys.columns;
  dialect->comment = keys.comment;
  dialect->null_text = keys.null_text;
  dialect->trim = keys.trim;
  dialect->encoding = keys.encoding;
  dialect->ragged_rows = keys.ragged_rows;
  dialect->max_record_bytes = keys.max_record_bytes;
  return true;
}

void DescribeCsvConfig(const std::string& path, std::vector<config::FieldDoc>* out) {
  CsvSchema().Describe(path, out);
}

}  // namespace firn::decode
