# SPDX-License-Identifier: MIT
# The sources that extrapolate motion. The golden test builds only these sources with other compilers and for
# other processors.
set(RECKONING_PREDICTOR_SOURCES src/motion/motion.cpp src/motion/portable_math.cpp src/motion/state.cpp)

# Server and client both run this code and must get exactly the same bits.
set(RECKONING_BIT_EXACT_SOURCES src/motion/motion.cpp src/motion/portable_math.cpp)
