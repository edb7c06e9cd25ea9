# The sanitizer builds parse what most files include once: a third of their time. The g++ builds do without, so that a missing
# #include is found there. lint.py takes the precompiled headers out of the commands it uses.

option(FIRN_PCH "Precompile the headers that most files include" ${FIRN_PCH_DEFAULT})

set(_firn_pch_headers
  <algorithm> <chrono> <cstdint> <functional> <map> <memory> <mutex> <optional> <set> <string> <string_view> <utility> <variant> <vector>
  <fmt/format.h> <nlohmann/json.hpp> <arrow/api.h>)

# _firn_pch(target [header...]): what owns a set of precompiled headers. Where ccache is used, the set counts by what it is made of:
# its own bytes hold the clone's path and would keep clones from sharing what they built.
function(_firn_pch target)
  target_precompile_headers(${target} PRIVATE ${_firn_pch_headers} ${ARGN})
  target_link_libraries(${target} PRIVATE dep::fmt dep::json dep::arrow)
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")
  file(SHA256 ${CMAKE_SOURCE_DIR}/deps.lock packages)
  string(SHA256 sum "${packages} ${CMAKE_CXX_COMPILER_VERSION} ${_firn_pch_headers} ${ARGN}")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.pch.sum ${sum})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/deps.lock)
endfunction()

if(FIRN_PCH)
  file(WRITE ${CMAKE_BINARY_DIR}/generated/pch.cc "int main() {}\n")
  # Libraries are position-independent in another way than executables: each kind has its own.
  add_library(firn_pch OBJECT ${CMAKE_BINARY_DIR}/generated/pch.cc)
  _firn_pch(firn_pch)
  if(NOT FIRN_FUZZ)
    add_executable(firn_test_pch ${CMAKE_BINARY_DIR}/generated/pch.cc)
    target_link_libraries(firn_test_pch PRIVATE dep::gtest)
    target_link_options(firn_test_pch PRIVATE ${FIRN_LINK_FIRST})
    _firn_pch(firn_test_pch <gtest/gtest.h> <gmock/gmock.h>)
  endif()
endif()

# firn_reuse_pch(target owner)
function(firn_reuse_pch target owner)
  if(FIRN_PCH AND TARGET ${owner})
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()
