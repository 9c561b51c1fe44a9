# SPDX-License-Identifier: MIT
# The header-only libraries for WebAssembly. Their headers are linked into a folder of their own, because this machine's
# other system headers would replace those of wasi-libc.
set(headers "${CMAKE_BINARY_DIR}/headers")
file(MAKE_DIRECTORY "${headers}")
foreach(library glm cereal fmt nlohmann)
  find_path(${library}_PARENT "${library}" PATHS /usr/include /usr/local/include /opt/homebrew/include
    REQUIRED NO_DEFAULT_PATH)
  file(CREATE_LINK "${${library}_PARENT}/${library}" "${headers}/${library}" SYMBOLIC)
  set(target ${library})
  if(library STREQUAL "nlohmann")
    set(target nlohmann_json)
  endif()
  add_library(wasm_${library} INTERFACE)
  target_include_directories(wasm_${library} SYSTEM INTERFACE "${headers}")
  add_library(${target}::${target} ALIAS wasm_${library})
endforeach()
target_compile_definitions(wasm_fmt INTERFACE FMT_HEADER_ONLY)
