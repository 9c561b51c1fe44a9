# SPDX-License-Identifier: MIT
# Tests of curves, routes and DIS models. CMakeLists.txt in this folder includes this file.
set(RECKONING_CURVES_TESTS
  curves/arc_length_test.cpp
  curves/catmull_rom_test.cpp
  curves/chaikin_test.cpp
  curves/cubic_path_test.cpp
  curves/easing_test.cpp
  curves/heading_test.cpp
  curves/nearest_test.cpp
  curves/tcb_orientation_test.cpp
  curves/tcb_test.cpp
  dis_models_test.cpp
  route_blend_test.cpp
  route_test.cpp)
