# SPDX-License-Identifier: MIT
# Builds the golden program with the given compiler and flags and compares its output with expected.txt.
#   cmake -DBINARY=FOLDER -DCOMPILER=c++ -DFLAGS="-O3" -DGENERATOR=Ninja [-DOPTIONS="-DX=Y;..."]
#         [-DEMULATOR=PROGRAM] -P check.cmake
set(source "${CMAKE_CURRENT_LIST_DIR}")

function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result)
    message(FATAL_ERROR "${what} failed: ${result}\n${output}")
  endif()
endfunction()

run("configuring" "${CMAKE_COMMAND}" -S "${source}" -B "${BINARY}" -G "${GENERATOR}"
  "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${FLAGS}" -DCMAKE_BUILD_TYPE= -DRECKONER_DEVELOPER=ON
  ${OPTIONS})
run("building" "${CMAKE_COMMAND}" --build "${BINARY}" --target golden)

set(program "${BINARY}/golden")
if(EXISTS "${BINARY}/bin/golden.exe")  # Windows
  set(program "${BINARY}/bin/golden.exe")
endif()
execute_process(COMMAND ${EMULATOR} "${program}"
  RESULT_VARIABLE result OUTPUT_VARIABLE printed ERROR_VARIABLE said)
string(REPLACE "\r\n" "\n" printed "${printed}")  # Windows
file(READ "${source}/expected.txt" expected)
if(result OR NOT printed STREQUAL expected)
  message(FATAL_ERROR "${COMPILER} ${FLAGS}: this build computes otherwise (${result}) ${said}\nexpected:\n"
    "${expected}printed:\n${printed}"
    "If every build prints the same, the wire has changed: write that into tests/golden/expected.txt, raise the\n"
    "protocol version and mark the changelog **wire**. If not, two players with different builds disagree.")
endif()
message("${COMPILER} ${FLAGS}: as expected")
