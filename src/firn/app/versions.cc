#include "firn/app/versions.h"

#include <arrow/config.h>
#include <fmt/format.h>
#include <libpq-fe.h>
#include <librdkafka/rdkafka.h>
#include <openssl/crypto.h>
#include <parquet/parquet_version.h>
#include <simdjson.h>
#include <spdlog/version.h>
#include <sqlite3.h>
#include <utf8proc.h>
#include <zlib.h>
#include <zstd.h>
#include <nlohmann/json.hpp>

#include "firn/http/aws/xml.h"
#include "firn/http/client/http_client.h"

/// jemalloc's, where it was linked in (never under a sanitizer, which brings its own allocator).
extern "C" int mallctl(const char* name, void* old, size_t* old_size, void* fresh, size_t fresh_size)
    __attribute__((weak));

namespace firn::app {

namespace {

std::string AllocatorVersion() {
  if (mallctl == nullptr) return "the C library's";
  const char* version = nullptr;
  size_t size = sizeof(version);
  if (mallctl("version", &version, &size, nullptr, 0) != 0) return "jemalloc";
  return fmt::format("jemalloc {}", version);
}

std::string FmtVersion() {
  return fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
}

std::string SpdlogVersion() {
  return fmt::format("{}.{}.{}", SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH);
}

std::string JsonVersion() {
  return fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                     NLOHMANN_JSON_VERSION_PATCH);
}

std::string ParquetVersion() {
  return fmt::format("{}.{}.{}", PARQUET_VERSION_MAJOR, PARQUET_VERSION_MINOR, PARQUET_VERSION_PATCH);
}

std::string LibpqVersion() { return fmt::format("{}.{}", PQlibVersion() / 10000, PQlibVersion() % 10000); }

std::string SimdjsonVersion() {
  return fmt::format("{}.{}.{} ({})", static_cast<int>(simdjson::SIMDJSON_VERSION_MAJOR),
                     static_cast<int>(simdjson::SIMDJSON_VERSION_MINOR),
                     static_cast<int>(simdjson::SIMDJSON_VERSION_REVISION),
                     simdjson::get_active_implementation()->name());
}

}  // namespace

std::vector<cli::LibraryVersion> LibraryVersions() {
  return {{"allocator", AllocatorVersion()},
          {"arrow", arrow::GetBuildInfo().version_string},
          {"expat", http::aws::ExpatVersion()},
          {"fmt", FmtVersion()},
          {"libcurl", http::CurlVersion()},
          {"libpq", LibpqVersion()},
          {"librdkafka", rd_kafka_version_str()},
          {"nlohmann-json", JsonVersion()},
          {"openssl", OpenSSL_version(OPENSSL_VERSION)},
          {"parquet", ParquetVersion()},
          {"simdjson", SimdjsonVersion()},
          {"spdlog", SpdlogVersion()},
          {"sqlite", sqlite3_libversion()},
          {"utf8proc", utf8proc_version()},
          {"zlib", zlibVersion()},
          {"zstd", ZSTD_versionString()}};
}

}  // namespace firn::app
