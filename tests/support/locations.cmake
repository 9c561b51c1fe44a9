# SPDX-License-Identifier: MIT
# test_locations: the folders that tests read (locations.hpp). For the tests here and for tests/portable.
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
get_filename_component(shared "${root}/../shared" ABSOLUTE)
add_library(test_locations STATIC "${CMAKE_CURRENT_LIST_DIR}/locations.cpp")
target_compile_definitions(test_locations PRIVATE
  RECKONER_SOURCE_DIR="${root}" RECKONER_SHARED_DIR="${shared}" RECKONER_PROGRAM_DIR="${RECKONER_PROGRAM_DIR}")
reckoner_compile_flags(test_locations)
