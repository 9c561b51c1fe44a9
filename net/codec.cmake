# SPDX-License-Identifier: MIT
# The files that encode states and fields. The golden test builds only these, for other compilers and processors.
set(NET_CODEC_SOURCES
  src/wire/bit_stream.cpp
  src/codec/codes_text.cpp
  src/codec/motion_codec.cpp
  src/codec/residual/residual_codec.cpp
  src/wire/user_fields.cpp)

# Server and client extrapolate baselines and compute values with this code, and must compute the same bits.
set(NET_BIT_EXACT_SOURCES
  src/codec/residual/coding_mode_chooser.cpp
  src/codec/residual/coding_statistics.cpp
  src/codec/motion_codec.cpp
  src/codec/residual/residual_codec.cpp
  src/codec/route_codec.cpp
  src/wire/user_fields.cpp)
if(CMAKE_SYSTEM_NAME STREQUAL "WASI")
  list(APPEND NET_CODEC_SOURCES src/wire/no_exceptions.cpp)
  # It defines functions that the compiler's headers declare differently.
  set_source_files_properties(src/wire/no_exceptions.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()
