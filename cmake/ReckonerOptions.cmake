# SPDX-License-Identifier: MIT
# Options, and the functions with which each folder declares its targets.
include(GNUInstallDirs)

# A project that adds Reckoner as a subdirectory gets the libraries only, unless it asks for more.
option(RECKONER_DEVELOPER "Warnings as errors (GCC 12), ccache, tests, benchmarks and examples" OFF)
option(RECKONER_NETWORK "Build everything that needs ENet, libsodium and Cereal; OFF: only reckoning" ON)
# Off by default where libnats (Debian: libnats-dev) is missing.
find_path(Nats_INCLUDE_DIR nats/nats.h)
find_library(Nats_LIBRARY NAMES nats)
set(has_nats OFF)
if(Nats_INCLUDE_DIR AND Nats_LIBRARY AND NOT CMAKE_CROSSCOMPILING)
  set(has_nats ON)
endif()
option(RECKONER_CLUSTER "Build reckoner::cluster, one world on many servers (needs libnats)" ${has_nats})
# Off by default where OpenSSL (Debian: libssl-dev), libwebsockets (libwebsockets-dev) or usrsctp (libusrsctp-dev) is missing.
# The listener uses POSIX sockets.
set(has_web OFF)
if(NOT CMAKE_CROSSCOMPILING AND NOT WIN32 AND NOT CMAKE_SYSTEM_NAME STREQUAL "WASI")
  find_package(OpenSSL 3.0 QUIET)
  find_package(Usrsctp QUIET)
  find_package(Websockets QUIET)
  if(OpenSSL_FOUND AND Websockets_FOUND AND Usrsctp_FOUND)
    set(has_web ON)
  endif()
endif()
option(RECKONER_WEB "Build reckoner::web, a server for players in browsers (needs libwebsockets, OpenSSL and usrsctp)"
  ${has_web})
set(RECKONER_SOCKETS_DEFAULT ON)
if(CMAKE_SYSTEM_NAME STREQUAL "WASI")
  set(RECKONER_SOCKETS_DEFAULT OFF)  # WebAssembly in a browser
endif()
option(RECKONER_SOCKETS "Build the transports over sockets, and encryption; OFF: a game supplies the transport"
  ${RECKONER_SOCKETS_DEFAULT})
option(RECKONER_C "Build the C library, libreckoner" ${PROJECT_IS_TOP_LEVEL})
option(RECKONER_C_WEB "Let the C library listen for browsers; it then needs libwebsockets and OpenSSL (RECKONER_WEB)" OFF)
option(RECKONER_PROGRAMS "Build reckoner-server, reckoner-client and reckoner-harness" ${PROJECT_IS_TOP_LEVEL})
option(RECKONER_EXAMPLES "Build the examples" ${RECKONER_DEVELOPER})
option(RECKONER_TESTS "Build the tests" ${RECKONER_DEVELOPER})
option(RECKONER_BENCHMARKS "Build the benchmarks" ${RECKONER_DEVELOPER})
option(RECKONER_INSTALL "Make install rules" ${PROJECT_IS_TOP_LEVEL})
option(RECKONER_FUZZ "Build the fuzz targets, for libFuzzer (Clang)" OFF)
set(RECKONER_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")
set(RECKONER_PROGRAM_DIR "${CMAKE_CURRENT_BINARY_DIR}/bin" CACHE PATH "Where the programs are put")

if(WIN32 AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${RECKONER_PROGRAM_DIR}")  # Windows looks for DLLs in the program's folder
endif()

set(CMAKE_EXPORT_NO_PACKAGE_REGISTRY ON)

if(NOT RECKONER_SOCKETS)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "WASI")
    set(RECKONER_C OFF)
  endif()
  foreach(part EXAMPLES TESTS BENCHMARKS INSTALL WEB)
    set(RECKONER_${part} OFF)
  endforeach()
endif()
if(NOT RECKONER_NETWORK)
  foreach(part C CLUSTER PROGRAMS EXAMPLES TESTS BENCHMARKS WEB)
    set(RECKONER_${part} OFF)
  endforeach()
endif()

if(RECKONER_C_WEB AND NOT RECKONER_WEB)
  message(FATAL_ERROR "RECKONER_C_WEB needs RECKONER_WEB")
endif()

get_filename_component(RECKONER_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
if(RECKONER_DEVELOPER)
  find_program(RECKONER_CCACHE ccache)
  if(RECKONER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # One cache for all builds of this checkout and of every other one on this machine: below CCACHE_BASEDIR, ccache
    # compares relative paths, and with CCACHE_NOHASHDIR it does not compare the folder of the build.
    # For precompiled headers, ccache must ignore their definitions and time stamps.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${RECKONER_ROOT}" CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${RECKONER_CCACHE}")
  endif()
endif()
# Parsing the standard library takes most of the time of a small file. A game's own build is not changed. Clang writes
# the folder of the build into a precompiled header, so one from the cache would need files of another checkout.
set(RECKONER_PRECOMPILE_DEFAULT ${RECKONER_DEVELOPER})
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(RECKONER_PRECOMPILE_DEFAULT OFF)
endif()
option(RECKONER_PRECOMPILE "Precompile the standard library's and GLM's headers" ${RECKONER_PRECOMPILE_DEFAULT})
option(RECKONER_UNITY "Compile several files as one" ${RECKONER_DEVELOPER})
set(RECKONER_UNITY_FILES 4 CACHE STRING "This many files of a library are compiled as one; few, if one change must compile soon")

if(RECKONER_SANITIZE)
  add_compile_options(-fsanitize=${RECKONER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RECKONER_SANITIZE})
endif()
if(RECKONER_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link -O1)
endif()

# reckoner_compile_flags(target [C++20_SCOPE]): the flags of every target of this project. They are private, so that a
# game keeps its own; only C++20 is PUBLIC, because the C++ headers need it. Internal headers are included by their path
# from the project's root.
function(reckoner_compile_flags target)
  set(scope PUBLIC)
  if(ARGC GREATER 1)
    set(scope "${ARGV1}")
  endif()
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} PRIVATE "${RECKONER_ROOT}")
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  if(WIN32)
    # Otherwise <windows.h> defines min and max as macros and includes the whole of the system's interface.
    target_compile_definitions(${target} PRIVATE NOMINMAX WIN32_LEAN_AND_MEAN)
  endif()
  if(MSVC)
    target_compile_options(${target} PRIVATE /W4 /utf-8 /permissive- /Zc:__cplusplus /bigobj)
  else()
    if(RECKONER_DEVELOPER)
      # The paths in assertions and debug information start at the project's root, so that objects are equal in every
      # checkout.
      target_compile_options(${target} PRIVATE "-ffile-prefix-map=${RECKONER_ROOT}/=")
    endif()
    # GCC warns of each field that a designated initialiser omits, but omitting fields is intended.
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                             -Wno-sign-conversion -Wno-missing-field-initializers)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # Warnings are errors only with tested compilers, because newer ones have unknown warnings.
      # These warnings of GCC 12 are false for std::string and std::optional (GCC bugs 105651, 105329 and 105562).
      target_compile_options(${target} PRIVATE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
        -Wno-stringop-overread -Wno-maybe-uninitialized -Wno-mismatched-new-delete -Wno-subobject-linkage $<$<BOOL:${RECKONER_DEVELOPER}>:-Werror>)
    endif()
  endif()
endfunction()

# reckoner_cache_precompiled(target): lets ccache keep the results of a target with precompiled headers.
function(reckoner_cache_precompiled target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
endfunction()

# reckoner_precompile(target [headers...]): precompiles the headers of the standard library and GLM, and `headers`.
function(reckoner_precompile target)
  if(RECKONER_PRECOMPILE AND NOT MSVC)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <chrono> <cmath> <cstddef> <cstdint> <cstdio> <deque> <functional> <map> <memory> <optional>
      <random> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>
      <glm/geometric.hpp> <glm/gtc/quaternion.hpp> <glm/vec3.hpp> ${ARGN})
    reckoner_cache_precompiled(${target})
  endif()
endfunction()

# reckoner_precompile_as(target other): uses the precompiled headers of another target that has the same flags.
function(reckoner_precompile_as target other)
  if(RECKONER_PRECOMPILE AND NOT MSVC AND NOT (WIN32 AND BUILD_SHARED_LIBS))
    target_precompile_headers(${target} REUSE_FROM ${other})
    reckoner_cache_precompiled(${target})
  endif()
endfunction()

# reckoner_compile_quickly(target [FILES_AT_ONCE]): compiles several files as one (8, or as many as given), because most
# of the time goes into headers and templates that every file would compile again. Files of one target therefore share
# one set of file-local names. ./dev lint --each compiles each file by itself.
function(reckoner_compile_quickly target)
  set(files 8)
  if(ARGC GREATER 1)
    set(files "${ARGV1}")
  endif()
  if(RECKONER_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()

# reckoner_optimise_less(target): for code whose speed does not matter.
function(reckoner_optimise_less target)
  if(NOT MSVC)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# reckoner_bit_exact(files...): server and client must compute bit-identical results with these files, whatever the
# compiler's other options are. So they are compiled without fused multiply-add and fast math. GCC 12 also must not
# vectorise straight code: where it does, it leaves out roundings from double to float. Clang accepts the flag, too.
function(reckoner_bit_exact)
  if(MSVC)
    # /fp:precise would do, but before Visual Studio 2022 it still fuses multiplications and additions.
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "/fp:strict")
  else()
    # These flags differ from the target's, so no precompiled header fits.
    set_source_files_properties(${ARGN} PROPERTIES
      COMPILE_OPTIONS "-ffp-contract=off;-fno-fast-math;-fno-tree-slp-vectorize" SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# reckoner_library(name SOURCES ... HEADERS ... [PUBLIC targets] [PRIVATE targets] [INTERNAL])
# HEADERS are relative to the folder's include/. INTERNAL libraries are always static and are not installed.
# A shared library exports only symbols that are marked with its macro from export.hpp.
function(reckoner_library name)
  cmake_parse_arguments(ARG "INTERNAL" "" "SOURCES;HEADERS;PUBLIC;PRIVATE;PRECOMPILE" ${ARGN})
  set(kind)
  if(ARG_INTERNAL)
    set(kind STATIC)
  endif()
  add_library(reckoner_${name} ${kind} ${ARG_SOURCES})
  get_target_property(kind reckoner_${name} TYPE)
  if(kind STREQUAL "STATIC_LIBRARY" AND NOT ARG_INTERNAL)
    target_compile_definitions(reckoner_${name} PUBLIC RECKONER_STATIC)
  endif()
  add_library(reckoner::${name} ALIAS reckoner_${name})
  list(TRANSFORM ARG_HEADERS PREPEND include/)
  # A header that is missing in the list would be found here but would not be installed.
  file(GLOB_RECURSE present RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS "include/*.h" "include/*.hpp")
  list(REMOVE_ITEM present ${ARG_HEADERS})
  if(present)
    message(FATAL_ERROR "reckoner_library(${name}) does not list ${present} among its HEADERS")
  endif()
  if(ARG_HEADERS)
    target_sources(reckoner_${name} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${ARG_HEADERS})
  endif()
  target_link_libraries(reckoner_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  reckoner_compile_flags(reckoner_${name})
  if(RECKONER_SANITIZE)
    # Simulations in tests spend much of their time here, and Clang compiles with -O1 about as fast as without.
    target_compile_options(reckoner_${name} PRIVATE -O1)
  endif()
  if(ARG_INTERNAL AND RECKONER_UNITY_FILES LESS 8)
    reckoner_compile_quickly(reckoner_${name})
  else()
    reckoner_compile_quickly(reckoner_${name} ${RECKONER_UNITY_FILES})
  endif()
  if(ARG_PRECOMPILE)
    reckoner_optimise_less(reckoner_${name})
    reckoner_precompile(reckoner_${name} ${ARG_PRECOMPILE})
  elseif(name STREQUAL "reckoning")
    reckoner_precompile(reckoner_reckoning)
  else()
    reckoner_precompile_as(reckoner_${name} reckoner_reckoning)
  endif()
  set_target_properties(reckoner_${name} PROPERTIES
    EXPORT_NAME ${name} OUTPUT_NAME reckoner-${name} POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(NOT WIN32)
    # Only Windows needs a symbol of its own per shared library; without it all libraries share precompiled headers.
    set_target_properties(reckoner_${name} PROPERTIES DEFINE_SYMBOL "")
  endif()
  if(RECKONER_SANITIZE AND NOT ARG_PRECOMPILE)
    # Makes the tests fast enough. Not for CLI11, which takes minutes to optimise with sanitizers.
    target_compile_options(reckoner_${name} PRIVATE $<IF:$<CXX_COMPILER_ID:Clang>,-O2,-O1>)
  endif()
  if(NOT ARG_INTERNAL)
    set_property(GLOBAL APPEND PROPERTY RECKONER_INSTALLED_LIBRARIES reckoner_${name})
  endif()
endfunction()

# reckoner_program(name SOURCES ... LINK ...): an executable in RECKONER_PROGRAM_DIR.
function(reckoner_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  reckoner_compile_flags(${name})
  reckoner_compile_quickly(${name})
  reckoner_optimise_less(${name})
  # On Windows, arguments and paths are UTF-8 only if the program says so.
  if(MINGW)
    enable_language(RC)
    target_sources(${name} PRIVATE "${RECKONER_ROOT}/programs/windows/utf8.rc")
  elseif(WIN32)
    target_sources(${name} PRIVATE "${RECKONER_ROOT}/programs/windows/utf8.manifest")
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${RECKONER_PROGRAM_DIR}")
  set_property(GLOBAL APPEND PROPERTY RECKONER_INSTALLED_PROGRAMS ${name})
endfunction()
