#include "firn/http/aws/key_document.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/time.h"

namespace firn::http::aws {

namespace {

std::string TextOf(const nlohmann::json& document, const char* key) {
  const auto found = document.find(key);
  return found != document.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Result<int64_t> ParseExpiration(std::string_view text) {
  int64_t micros = 0;
  if (ParseTimestampMicros(text, &micros) != TimeParse::kOk)
    return Error(ErrorKind::kCorrupt, "the keys end at no time that can be read");
  return FloorDiv(micros, 1000);
}

Result<AwsCredentials> ParseKeyDocument(std::string_view json, std::string source) {
  const nlohmann::json document = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return Error(ErrorKind::kCorrupt, fmt::format("{} gave no JSON object", source));
  AwsCredentials credentials;
  credentials.keys = {TextOf(document, "AccessKeyId"), TextOf(document, "SecretAccessKey"),
                      TextOf(document, "SessionToken")};
  if (credentials.keys.session_token.empty()) credentials.keys.session_token = TextOf(document, "Token");
  if (credentials.keys.access_key_id.empty() || credentials.keys.secret_access_key.empty())
    return Error(ErrorKind::kCorrupt, fmt::format("{} gave no AccessKeyId and SecretAccessKey", source));
  const std::string expiration = TextOf(document, "Expiration");
  if (!expiration.empty()) {
    FIRN_ASSIGN_CTX(credentials.expires_at_ms, ParseExpiration(expiration), source);
  }
  credentials.source = std::move(source);
  return credentials;
}

}  // namespace firn::http::aws
