# librdkafka as a static library, built once by ./dev out of the crate that carries its source.

set(_root ${FIRN_DEPS_DIR}/librdkafka)
include(FindPackageHandleStandardArgs)
find_path(FIRN_RDKAFKA_INCLUDE librdkafka/rdkafka.h PATHS ${_root}/include NO_DEFAULT_PATH)
find_file(FIRN_RDKAFKA_LIBRARY librdkafka.a PATHS ${_root}/lib NO_DEFAULT_PATH)
find_package_handle_standard_args(Rdkafka
  REQUIRED_VARS FIRN_RDKAFKA_INCLUDE FIRN_RDKAFKA_LIBRARY
  REASON_FAILURE_MESSAGE "librdkafka is not in ${_root}: run ./dev deps first")

pkg_check_modules(libsasl2 REQUIRED IMPORTED_TARGET libsasl2)
pkg_check_modules(rdkafka_zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(rdkafka_lz4 REQUIRED IMPORTED_TARGET liblz4)
add_library(firn_rdkafka STATIC IMPORTED)
set_target_properties(firn_rdkafka PROPERTIES
  IMPORTED_LOCATION ${FIRN_RDKAFKA_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${FIRN_RDKAFKA_INCLUDE}
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${FIRN_RDKAFKA_INCLUDE}
  INTERFACE_LINK_LIBRARIES
    "OpenSSL::SSL;OpenSSL::Crypto;CURL::libcurl;ZLIB::ZLIB;PkgConfig::libsasl2;PkgConfig::rdkafka_zstd;PkgConfig::rdkafka_lz4;Threads::Threads;${CMAKE_DL_LIBS};m")
