#pragma once

#include <string>
#include <string_view>

namespace firn::http {

/// 32 raw bytes.
std::string Sha256(std::string_view bytes);
/// 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);
/// 32 raw bytes.
std::string HmacSha256(std::string_view key, std::string_view bytes);
/// 16 raw bytes, for `Content-MD5` and ETags; empty where the system's OpenSSL forbids MD5 (FIPS).
std::string Md5(std::string_view bytes);

}  // namespace firn::http
