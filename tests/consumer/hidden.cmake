# SPDX-License-Identifier: MIT
# Checks that a shared library exports every pattern of SHOWN and none of HIDDEN. It should export only the names in
# its public headers. Patterns are separated by |.
#   cmake -DNM=nm -DLIBRARY=FILE "-DSHOWN=A|B" "-DHIDDEN=C|D" -P hidden.cmake
execute_process(COMMAND "${NM}" -DC --defined-only "${LIBRARY}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "|" ";" SHOWN "${SHOWN}")
foreach(pattern IN LISTS SHOWN)
  if(NOT symbols MATCHES "[^\n]* reckoner::${pattern}")
    message(FATAL_ERROR "${LIBRARY} does not show reckoner::${pattern}")
  endif()
endforeach()
if(symbols MATCHES "[^\n]* reckoner::(${HIDDEN})[^\n]*")
  message(FATAL_ERROR "${LIBRARY} shows ${CMAKE_MATCH_0}")
endif()
