# The only ways in which this tree makes targets: firn_library, firn_test, firn_executable, firn_fuzzer.

# The wheel's libparquet exports OpenSSL's symbols without versions. The system's libssl finds its own libcrypto only if
# libcrypto stands before libparquet in the executable's search order, so both are named first and kept even where unused.
set(FIRN_LINK_FIRST -Wl,--no-as-needed -lssl -lcrypto -Wl,--as-needed)

include(Precompiled)

function(_firn_register_tests)
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    set_property(GLOBAL APPEND PROPERTY FIRN_REGISTERED_TESTS ${file})
  endforeach()
endfunction()

# firn_library(NAME target SOURCES file... DEPS target... [TESTS file... [TEST_DEPS target...]])
#   One folder, one library. DEPS reach whoever links it. TESTS become the executable <target>_test.
function(firn_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;DEPS;TESTS;TEST_DEPS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "firn_library(${arg_NAME}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_SOURCES)
    add_library(${arg_NAME} STATIC ${arg_SOURCES})
    target_include_directories(${arg_NAME} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${arg_NAME} PUBLIC ${arg_DEPS} PRIVATE firn_warnings)
    firn_reuse_pch(${arg_NAME} firn_pch)
  else()
    add_library(${arg_NAME} INTERFACE)
    target_include_directories(${arg_NAME} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${arg_NAME} INTERFACE ${arg_DEPS})
  endif()
  if(arg_TESTS)
    firn_test(NAME ${arg_NAME}_test SOURCES ${arg_TESTS} DEPS ${arg_NAME} ${arg_TEST_DEPS})
  endif()
endfunction()

# firn_test(NAME target SOURCES file... DEPS target... [TIMEOUT seconds] [LABELS label...])
#   A GoogleTest executable; ctest runs it as one test (cases are counted from its report).
function(firn_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TIMEOUT" "SOURCES;DEPS;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  _firn_register_tests(${arg_SOURCES})
  if(FIRN_FUZZ)
    return()
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_include_directories(${arg_NAME} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/test)
  target_link_options(${arg_NAME} PRIVATE ${FIRN_LINK_FIRST})
  target_link_libraries(${arg_NAME} PRIVATE firn_warnings firn_test_main ${arg_DEPS} dep::gtest)
  target_compile_definitions(${arg_NAME} PRIVATE FIRN_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  firn_reuse_pch(${arg_NAME} firn_test_pch)
  add_test(NAME ${arg_NAME}
    COMMAND ${arg_NAME} --gtest_brief=1 --gtest_output=xml:${CMAKE_BINARY_DIR}/test-results/${arg_NAME}.xml
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  set_tests_properties(${arg_NAME} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
endfunction()

# firn_executable(NAME target SOURCES file... DEPS target... [JEMALLOC])
#   JEMALLOC: the allocator comes before everything else in the search order (never under a sanitizer, which brings its own).
#   A release build keeps the debug information beside the program in <target>.debug.
function(firn_executable)
  cmake_parse_arguments(PARSE_ARGV 0 arg "JEMALLOC" "NAME" "SOURCES;DEPS")
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_include_directories(${arg_NAME} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  if(arg_JEMALLOC AND NOT FIRN_SANITIZE)
    target_link_options(${arg_NAME} PRIVATE -Wl,--no-as-needed -ljemalloc -Wl,--as-needed)
    target_compile_definitions(${arg_NAME} PRIVATE FIRN_JEMALLOC=1)
  endif()
  target_link_options(${arg_NAME} PRIVATE ${FIRN_LINK_FIRST} -rdynamic)
  target_link_libraries(${arg_NAME} PRIVATE firn_warnings ${arg_DEPS})
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    add_custom_command(TARGET ${arg_NAME} POST_BUILD
      COMMAND ${CMAKE_OBJCOPY} --only-keep-debug $<TARGET_FILE:${arg_NAME}> $<TARGET_FILE:${arg_NAME}>.debug
      COMMAND ${CMAKE_OBJCOPY} --strip-debug --add-gnu-debuglink=$<TARGET_FILE:${arg_NAME}>.debug $<TARGET_FILE:${arg_NAME}>
      VERBATIM)
  endif()
endfunction()

# firn_fuzzer(NAME name SOURCES file... DEPS target...)
#   fuzz/corpus/<name>/ holds its inputs. In the fuzz preset: a libFuzzer executable. In every other preset: an executable that
#   replays the corpus, as a test.
function(firn_fuzzer)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;DEPS")
  set(target ${arg_NAME}_fuzz)
  set(corpus ${CMAKE_SOURCE_DIR}/fuzz/corpus/${arg_NAME})
  if(NOT EXISTS ${corpus})
    message(FATAL_ERROR "firn_fuzzer(${arg_NAME}): no corpus in ${corpus}")
  endif()
  add_executable(${target} ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_options(${target} PRIVATE ${FIRN_LINK_FIRST})
  target_link_libraries(${target} PRIVATE firn_warnings ${arg_DEPS})
  if(FIRN_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/fuzz/replay_main.cc)
    add_test(NAME ${target} COMMAND ${target} ${corpus})
    set_tests_properties(${target} PROPERTIES TIMEOUT 300 LABELS fuzz ENVIRONMENT ARROW_DEFAULT_MEMORY_POOL=system)
  endif()
endfunction()

# A test file that no target compiles would pass for ever: fail the configure step instead.
function(firn_check_registration)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*_test.cc ${CMAKE_SOURCE_DIR}/test/*_test.cc)
  get_property(registered GLOBAL PROPERTY FIRN_REGISTERED_TESTS)
  foreach(file IN LISTS files)
    if(NOT file IN_LIST registered)
      message(SEND_ERROR "${file} is not registered: name it under TESTS in its folder's CMakeLists.txt")
    endif()
  endforeach()
endfunction()
