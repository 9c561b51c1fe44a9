# SPDX-License-Identifier: MIT
# test_process: starts the programs as a user does, and reads what they write.
set(folder "${CMAKE_CURRENT_LIST_DIR}")
add_library(test_process STATIC "${folder}/http.cpp" "${folder}/pose_table.cpp" "${folder}/process.cpp")
target_link_libraries(test_process PUBLIC test_locations GTest::gtest)
target_compile_definitions(test_process PUBLIC RECKONER_STATIC)
reckoner_compile_flags(test_process)
reckoner_compile_quickly(test_process)
reckoner_optimise_less(test_process)
reckoner_precompile_as(test_process test_precompiled)
add_dependencies(test_process reckoner-server reckoner-client reckoner-token)
