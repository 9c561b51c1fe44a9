# SPDX-License-Identifier: MIT
# A shared library shows what its headers promise and nothing else of ours.
#   cmake -DNM=nm -DLIBRARY=FILE -DSHOWN=REGEX -DHIDDEN=REGEX -P hidden.cmake
execute_process(COMMAND "${NM}" -DC --defined-only "${LIBRARY}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES "${SHOWN}")
  message(FATAL_ERROR "${LIBRARY} does not show ${SHOWN}")
endif()
if(symbols MATCHES "[^\n]*${HIDDEN}[^\n]*")
  message(FATAL_ERROR "${LIBRARY} shows ${CMAKE_MATCH_0}")
endif()
