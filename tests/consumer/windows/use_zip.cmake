# SPDX-License-Identifier: MIT
# Unpacks ZIP into OUT, builds PROJECT with it (with MAIN as its main.c, if given) and runs the program under EMULATOR. A
# program with MAIN must show what SERVER sends.
function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${OUT}" RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(result)
    message(FATAL_ERROR "${ARGN} failed: ${result}\n${output}")
  endif()
  message("${output}")
endfunction()

file(REMOVE_RECURSE "${OUT}")
file(ARCHIVE_EXTRACT INPUT "${ZIP}" DESTINATION "${OUT}/zip")
file(COPY "${PROJECT}/" DESTINATION "${OUT}/source")
if(MAIN)
  configure_file("${MAIN}" "${OUT}/source/main.c" COPYONLY)
endif()
# The toolchain file finds packages only in this folder.
run("${CMAKE_COMMAND}" -S source -B build -G Ninja "--toolchain=${TOOLCHAIN}" -DCMAKE_BUILD_TYPE=Release
  "-DRECKONER_WINDOWS_DEPENDENCIES=${OUT}/zip")
run("${CMAKE_COMMAND}" --build build)

if(MAIN)
  # Windows finds a DLL in the program's folder.
  file(COPY "${OUT}/zip/bin/reckoner.dll" DESTINATION "${OUT}/build")
  run("${PYTHON}" "${WATCH}" --server "${EMULATOR}" --server-argument "${SERVER}"
    --run "${EMULATOR}" "${OUT}/build/watch.exe")
else()
  run("${EMULATOR}" "${OUT}/build/game.exe")
endif()
# The programs in the file run, too, and need no other file.
run("${EMULATOR}" "${OUT}/zip/bin/reckoner-token.exe" --help)
