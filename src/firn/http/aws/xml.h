#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"

namespace firn::http::aws {

/// One element of an answer of S3 or STS: names without their namespace prefix, attributes left out.
struct XmlElement {
  std::string name;
  std::string text;  ///< character data of this element, without that of its children
  std::vector<XmlElement> children;

  /// The first child of that name; null when there is none.
  const XmlElement* Find(std::string_view child) const;
  /// The text of that child; empty when there is none.
  std::string_view Text(std::string_view child) const;
};

/// The root element. kCorrupt for what is not well-formed, for a document type declaration (so that no
/// entities can be defined) and for more than 32 levels.
Result<XmlElement> ParseXml(std::string_view document);

/// Text as it stands between tags. Line breaks, tabs and the characters with a meaning are written as
/// references.
std::string XmlEscape(std::string_view text);
/// Whether XML 1.0 can hold this text at all (it cannot hold most control characters).
bool IsXmlText(std::string_view text);

/// expat's version, for `firn version`.
std::string ExpatVersion();

}  // namespace firn::http::aws
