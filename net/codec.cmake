# SPDX-License-Identifier: MIT
# What states and fields are coded with. The test of golden hashes builds these files alone, for other processors.
set(NET_CODEC_SOURCES
  src/bit_stream.cpp
  src/motion_codec.cpp
  src/residual_codec.cpp
  src/user_fields.cpp)

# Both ends carry baselines forward and compute values, and must agree to the last bit.
set(NET_BIT_EXACT_SOURCES
  src/coding_statistics.cpp
  src/manner_chooser.cpp
  src/motion_codec.cpp
  src/residual_codec.cpp
  src/route_codec.cpp
  src/user_fields.cpp)
