#include "firn/http/aws/xml.h"

#include <algorithm>
#include <memory>

#include <expat.h>
#include <fmt/format.h>

#include "firn/base/bytes.h"

namespace firn::http::aws {

namespace {

constexpr size_t kMaxDepth = 32;
constexpr int kPieceBytes = 1 << 20;

struct ParserDeleter {
  void operator()(XML_ParserStruct* parser) const { XML_ParserFree(parser); }
};

std::string_view LocalName(const char* name) {
  const std::string_view whole(name);
  return whole.substr(whole.find(':') + 1);  // npos + 1 is 0
}

/// What the callbacks build: the open elements, outermost first, below one that holds the root.
class TreeBuilder {
 public:
  explicit TreeBuilder(XML_Parser parser) : parser_(parser), open_(1) {
    XML_SetUserData(parser, this);
    XML_SetElementHandler(parser, &Start, &End);
    XML_SetCharacterDataHandler(parser, &Text);
    XML_SetStartDoctypeDeclHandler(parser, &Doctype);
  }

  const char* refused() const { return refused_; }
  XmlElement TakeRoot() { return std::move(open_.front().children.front()); }

 private:
  static TreeBuilder& Of(void* self) { return *static_cast<TreeBuilder*>(self); }

  static void Start(void* self, const XML_Char* name, const XML_Char** /*attributes*/) {
    TreeBuilder& tree = Of(self);
    if (tree.open_.size() > kMaxDepth) return tree.Refuse("more than 32 levels");
    tree.open_.emplace_back().name = LocalName(name);
  }
  static void End(void* self, const XML_Char* /*name*/) {
    TreeBuilder& tree = Of(self);
    XmlElement done = std::move(tree.open_.back());
    tree.open_.pop_back();
    tree.open_.back().children.push_back(std::move(done));
  }
  static void Text(void* self, const XML_Char* text, int length) {
    Of(self).open_.back().text.append(text, static_cast<size_t>(length));
  }
  static void Doctype(void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
    Of(self).Refuse("a document type declaration");
  }

  void Refuse(const char* why) {
    refused_ = why;
    XML_StopParser(parser_, XML_FALSE);
  }

  XML_Parser parser_;
  std::vector<XmlElement> open_;
  const char* refused_ = nullptr;
};

Error NotXml(std::string_view why, std::string_view document) {
  return Error(ErrorKind::kCorrupt,
               fmt::format("no XML answer: {}; it begins with '{}'", why, Excerpt(document, 60)));
}

}  // namespace

const XmlElement* XmlElement::Find(std::string_view child) const {
  const auto found = std::ranges::find(children, child, &XmlElement::name);
  return found == children.end() ? nullptr : &*found;
}

std::string_view XmlElement::Text(std::string_view child) const {
  const XmlElement* found = Find(child);
  return found == nullptr ? std::string_view() : std::string_view(found->text);
}

Result<XmlElement> ParseXml(std::string_view document) {
  const std::unique_ptr<XML_ParserStruct, ParserDeleter> parser(XML_ParserCreate("UTF-8"));
  if (!parser) return Error(ErrorKind::kResourceExhausted, "no memory for an XML parser");
  TreeBuilder tree(parser.get());
  std::string_view rest = document;
  do {  // in pieces, because expat counts bytes with an int
    const std::string_view piece = rest.substr(0, kPieceBytes);
    rest.remove_prefix(piece.size());
    if (XML_Parse(parser.get(), piece.data(), static_cast<int>(piece.size()), rest.empty() ? 1 : 0) ==
        XML_STATUS_OK) {
      continue;
    }
    if (tree.refused() != nullptr) return NotXml(tree.refused(), document);
    return NotXml(XML_ErrorString(XML_GetErrorCode(parser.get())), document);
  } while (!rest.empty());
  return tree.TakeRoot();
}

std::string XmlEscape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'' || c == '\n' || c == '\r' || c == '\t') {
      out += fmt::format("&#{};", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out;
}

bool IsXmlText(std::string_view text) {
  const auto fits = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || c == '\t' || c == '\n' || c == '\r';
  };
  return std::ranges::all_of(text, fits) && IsValidUtf8(text) &&
         text.find("\xEF\xBF\xBE") == std::string_view::npos &&
         text.find("\xEF\xBF\xBF") == std::string_view::npos;
}

std::string ExpatVersion() {
  const XML_Expat_Version version = XML_ExpatVersionInfo();
  return fmt::format("{}.{}.{}", version.major, version.minor, version.micro);
}

}  // namespace firn::http::aws
