# SPDX-License-Identifier: MIT
# A shared library shows what its headers promise and nothing else of ours: every pattern of SHOWN is there, none of
# HIDDEN. Both are separated by |.
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
