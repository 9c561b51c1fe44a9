# SPDX-License-Identifier: MIT
# Brings the module up to date and compares its results with the native build's.
#   cmake -DSOURCE=FOLDER -DDIGEST=PROGRAM -DHARNESS=PROGRAM -DSHARED=FOLDER -P same_bits.cmake
find_program(node NAMES node)
find_program(compiler NAMES clang++-19)
if(NOT node OR NOT compiler OR NOT EXISTS "${SOURCE}/build/wasm/build.ninja")
  message("skipped: no module for WebAssembly. ./dev wasm installs its compiler and builds it")
  return()
endif()
foreach(step
    "${CMAKE_COMMAND};--build;${SOURCE}/build/wasm;--target;playground"
    "${node};${SOURCE}/tests/playground/same_bits.mjs;${SOURCE}/build/wasm/playground/playground.wasm;${DIGEST};${HARNESS};${SHARED}")
  execute_process(COMMAND ${step} RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "failed: ${step}")
  endif()
endforeach()
