# SPDX-License-Identifier: MIT
# What carries motion forward. The test of golden hashes builds these files alone, for other processors.
set(RECKONING_PREDICTOR_SOURCES src/motion.cpp src/state.cpp)

# Both ends predict with these and must agree to the last bit.
set(RECKONING_BIT_EXACT_SOURCES src/motion.cpp)
