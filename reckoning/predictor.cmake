# SPDX-License-Identifier: MIT
# The files that extrapolate motion. The golden test builds only these, for other compilers and processors.
set(RECKONING_PREDICTOR_SOURCES src/motion/motion.cpp src/motion/state.cpp)

# Server and client run this code and must compute the same bits.
set(RECKONING_BIT_EXACT_SOURCES src/motion/motion.cpp)
