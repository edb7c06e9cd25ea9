#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "firn/http/aws/profiles.h"
#include "firn/http/aws/xml.h"
#include "firn/store/s3/answers.h"

// What S3 and STS answer, and AWS's profile files: outside bytes that must end in a value or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace s3 = firn::store::s3;
  namespace aws = firn::http::aws;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto page = s3::ParseListPage(text);
  if (page.ok()) {
    for (const auto& object : page->objects)
      if (object.key.empty() || object.size_bytes < 0) std::abort();
  }
  firn::Ignore(s3::ParseUploadId(text));
  firn::Ignore(s3::ParseDeleteErrors(text));
  static_cast<void>(s3::ParseServiceError(text));
  static_cast<void>(s3::ParseHttpDate(text));
  static_cast<void>(s3::TotalOfContentRange(text));
  std::map<std::string, aws::Profile, std::less<>> profiles;
  firn::Ignore(aws::Profiles::ParseFile(text, true, &profiles));
  firn::Ignore(aws::Profiles::ParseFile(text, false, &profiles));
  if (aws::IsXmlText(text)) {
    const auto back = aws::ParseXml("<K>" + aws::XmlEscape(text) + "</K>");
    if (!back.ok() || back->text != text) std::abort();
  }
  return 0;
}
