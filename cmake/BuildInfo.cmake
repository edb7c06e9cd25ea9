# firn/build_info.h: what `firn version` tells of the build. Link firn_build_info to include it.

configure_file(${CMAKE_SOURCE_DIR}/cmake/build_info.h.in ${CMAKE_BINARY_DIR}/generated/firn/build_info.h @ONLY)
add_library(firn_build_info INTERFACE)
target_include_directories(firn_build_info INTERFACE ${CMAKE_BINARY_DIR}/generated)
