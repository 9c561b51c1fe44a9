# SPDX-License-Identifier: MIT
# Builds for 64-bit Windows with Debian's mingw-w64 (POSIX threads). ./dev windows uses it. All dependencies come from one
# folder, RECKONER_WINDOWS_DEPENDENCIES, so that no header of this system is found.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(triple x86_64-w64-mingw32)
set(CMAKE_C_COMPILER ${triple}-gcc-posix)
set(CMAKE_CXX_COMPILER ${triple}-g++-posix)
set(CMAKE_RC_COMPILER ${triple}-windres)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RECKONER_WINDOWS_DEPENDENCIES)
set(CMAKE_FIND_ROOT_PATH /usr/${triple} "${RECKONER_WINDOWS_DEPENDENCIES}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
if(RECKONER_WINDOWS_DEPENDENCIES)
  set(ENV{PKG_CONFIG_LIBDIR} "${RECKONER_WINDOWS_DEPENDENCIES}/lib/pkgconfig")
endif()

# Programs and DLLs contain the compiler's libraries, so that they need no other file.
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT -static)
endforeach()

set(CMAKE_CROSSCOMPILING_EMULATOR "${CMAKE_CURRENT_LIST_DIR}/under_wine")
