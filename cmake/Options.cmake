# How everything of ours is compiled. Presets choose among these; third-party code never sees firn_warnings.

option(FIRN_FAULT_POINTS "Compile the named fault points in (never in what is shipped)" OFF)
option(FIRN_FUZZ "Build the fuzz targets with libFuzzer instead of as corpus replays" OFF)
set(FIRN_SANITIZE "" CACHE STRING "Sanitizers, comma separated: address,undefined or thread")
set(FIRN_ARROW "wheel" CACHE STRING "Where Arrow and Parquet come from: wheel (PyPI's pyarrow) or system")

if(DEFINED ENV{FIRN_DEPS_DIR})
  set(_firn_deps_default $ENV{FIRN_DEPS_DIR})
else()
  set(_firn_deps_default ${CMAKE_SOURCE_DIR}/.deps)
endif()
set(FIRN_DEPS_DIR ${_firn_deps_default} CACHE PATH "What ./dev installs outside the system's packages")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Debug CACHE STRING "" FORCE)
endif()

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

# --- compiler cache and linker

find_program(FIRN_CCACHE ccache)
if(FIRN_CCACHE)
  # Paths below the clone are hashed as relative ones, so that every clone on a machine shares what one of them built.
  set(_launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=time_macros,include_file_mtime,include_file_ctime,pch_defines CCACHE_PCH_EXTSUM=1 ${FIRN_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${_launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${_launcher})
endif()

find_program(FIRN_MOLD mold)
if(FIRN_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# --- code generation

add_compile_options(
  -march=x86-64-v2 -mtune=generic
  -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
  -fstack-protector-strong -fstack-clash-protection -fcf-protection=full
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
add_link_options(LINKER:-z,relro,-z,now,-z,noexecstack LINKER:--build-id=sha1)

set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT FIRN_SANITIZE)
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR FIRN_SANITIZE)
  # _GLIBCXX_DEBUG would change the layout of containers and break the wheel's ABI.
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()
if(FIRN_FAULT_POINTS)
  add_compile_definitions(FIRN_FAULT_POINTS=1)
endif()

if(FIRN_SANITIZE)
  set(FIRN_PCH_DEFAULT ON)
  # -fno-sanitize=vptr: the wheel's libraries hide the type information it wants to compare.
  # Unoptimised: optimising instrumented code takes twice the time to build and saves a minute of the tests.
  add_compile_options(-fsanitize=${FIRN_SANITIZE})
  add_link_options(-fsanitize=${FIRN_SANITIZE})
  if(FIRN_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=vptr -fno-sanitize-recover=all)
    add_link_options(-fno-sanitize=vptr)
  endif()
  if(FIRN_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
endif()

# --- warnings: all of them errors, and only for our own code

add_library(firn_warnings INTERFACE)
target_compile_options(firn_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Werror
  -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wsuggest-override
  -Wformat=2 -Wimplicit-fallthrough -Wextra-semi -Wno-missing-field-initializers -Wvla -Wcast-align)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms of g++ 12 inside its own string and variant code once it inlines them.
  target_compile_options(firn_warnings INTERFACE
    -Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds -Wno-dangling-pointer
    -Wno-free-nonheap-object)
else()
  # clang judges these differently, the last one even inside libstdc++'s own stable_sort; the g++ build is the reference.
  target_compile_options(firn_warnings INTERFACE
    -Wno-missing-braces -Wno-unused-private-field -Wno-deprecated-declarations)
endif()
