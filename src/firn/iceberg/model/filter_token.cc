#include "firn/iceberg/model/filter_token.h"

#include <cctype>

#include <fmt/format.h>

namespace firn::iceberg {

namespace {

bool IsNameStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         (static_cast<uint8_t>(c) & 0x80) != 0;
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> Run() && {
    while (true) {
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
      start_ = at_;
      if (at_ == text_.size()) break;
      FIRN_TRY(Next());
    }
    Push(TokenKind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void Push(TokenKind kind, std::string text) {
    Token token{kind, std::move(text), "", start_ + 1};
    if (kind == TokenKind::kName) {
      for (const char c : token.text)
        token.upper.push_back(static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
    }
    tokens_.push_back(std::move(token));
  }

  Status Next() {
    const char c = Peek();
    if (c == '\'') return Quoted('\'', TokenKind::kText);
    if (c == '"' || c == '`') return Quoted(c, TokenKind::kQuotedName);
    if ((c == 'x' || c == 'X') && Peek(1) == '\'') {
      ++at_;
      return Quoted('\'', TokenKind::kBytes);
    }
    if (IsNameStart(c)) return Name();
    if (IsDigit(c) || (c == '.' && IsDigit(Peek(1))) ||
        ((c == '-' || c == '+') && (IsDigit(Peek(1)) || Peek(1) == '.')))
      return Number();
    return Symbol();
  }

  /// A doubled quote stands for one.
  Status Quoted(char quote, TokenKind kind) {
    std::string value;
    ++at_;
    while (at_ < text_.size()) {
      if (text_[at_] == quote && Peek(1) != quote) {
        ++at_;
        Push(kind, std::move(value));
        return Ok();
      }
      if (text_[at_] == quote) ++at_;
      value.push_back(text_[at_++]);
    }
    return FilterError(start_ + 1, fmt::format("the closing {} is missing", quote));
  }

  Status Name() {
    while (IsNameStart(Peek()) || IsDigit(Peek()) || Peek() == '$') ++at_;
    Push(TokenKind::kName, std::string(text_.substr(start_, at_ - start_)));
    return Ok();
  }

  Status Number() {
    ++at_;
    while (IsDigit(Peek()) || Peek() == '.' || Peek() == 'e' || Peek() == 'E' ||
           ((Peek() == '-' || Peek() == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'))) {
      ++at_;
    }
    Push(TokenKind::kNumber, std::string(text_.substr(start_, at_ - start_)));
    return Ok();
  }

  Status Symbol() {
    for (const std::string_view symbol : {"==", "!=", "<>", "<=", ">=", "=", "<", ">", "(", ")", ",", "."}) {
      if (!text_.substr(at_).starts_with(symbol)) continue;
      at_ += symbol.size();
      Push(TokenKind::kSymbol, std::string(symbol));
      return Ok();
    }
    return FilterError(start_ + 1, fmt::format("'{}' is not expected here", Peek()));
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t start_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

Error FilterError(size_t at, std::string_view why) {
  return Error(ErrorKind::kInvalidArgument, fmt::format("filter, at position {}: {}", at, why));
}

Result<std::vector<Token>> TokenizeFilter(std::string_view text) { return Tokenizer(text).Run(); }

}  // namespace firn::iceberg
