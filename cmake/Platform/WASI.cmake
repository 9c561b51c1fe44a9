# SPDX-License-Identifier: MIT
# CMake 3.25 does not know this system and warns without this file. WebAssembly has static libraries only.
set_property(GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS FALSE)
