# SPDX-License-Identifier: MIT
# Curves, routes and DIS models: included by CMakeLists.txt beside this file.
set(RECKONING_CURVES_HEADERS
  reckoner/reckoning/curves/arc_length.hpp
  reckoner/reckoning/curves/catmull_rom.hpp
  reckoner/reckoning/curves/chaikin.hpp
  reckoner/reckoning/curves/cubic_path.hpp
  reckoner/reckoning/curves/easing.hpp
  reckoner/reckoning/curves/heading.hpp
  reckoner/reckoning/curves/nearest.hpp
  reckoner/reckoning/curves/tcb.hpp
  reckoner/reckoning/curves/tcb_orientation.hpp
  reckoner/reckoning/curves/vector.hpp
  reckoner/reckoning/dis_models.hpp
  reckoner/reckoning/route.hpp)
set(RECKONING_CURVES_SOURCES
  src/curves/arc_length.cpp
  src/curves/catmull_rom.cpp
  src/curves/chaikin.cpp
  src/curves/cubic_path.cpp
  src/curves/easing.cpp
  src/curves/frame_table.cpp
  src/curves/heading.cpp
  src/curves/nearest.cpp
  src/curves/tcb.cpp
  src/curves/tcb_orientation.cpp
  src/dis_models.cpp
  src/route.cpp)
