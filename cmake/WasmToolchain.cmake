# SPDX-License-Identifier: MIT
# CMake toolchain file for WebAssembly with Debian's clang-19, lld-19, libc++-19-dev-wasm32, libclang-rt-19-dev-wasm32
# and wasi-libc: cmake -B build/wasm -DCMAKE_TOOLCHAIN_FILE=cmake/WasmToolchain.cmake. ./dev wasm does it.
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")  # for Platform/WASI.cmake
set(CMAKE_SYSTEM_NAME WASI)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
set(CMAKE_AR llvm-ar-19)
set(CMAKE_RANLIB llvm-ranlib-19)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

# Cereal's headers contain `throw`, which needs this option. Nothing catches: net/src/wire/no_exceptions.cpp ends
# the program instead.
set(CMAKE_CXX_FLAGS_INIT "-fexceptions")
set(CMAKE_CXX_FLAGS_RELEASE_INIT "-O2 -DNDEBUG")
