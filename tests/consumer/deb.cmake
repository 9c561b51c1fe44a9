# SPDX-License-Identifier: MIT
# Makes the Debian packages of a build and compares their files and dependencies with deb.txt.
#   cmake -DBINARY=BUILD -DOUT=DIR -DLIST=deb.txt -P deb.cmake
file(REMOVE_RECURSE "${OUT}")
get_filename_component(cpack "${CMAKE_COMMAND}" DIRECTORY)
execute_process(COMMAND "${cpack}/cpack" -G DEB -B "${OUT}" --config "${BINARY}/CPackConfig.cmake"
  WORKING_DIRECTORY "${BINARY}" OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "cpack: ${said}")
endif()
file(GLOB packages "${OUT}/*.deb")
list(SORT packages)
set(printed "")
foreach(package IN LISTS packages)
  execute_process(COMMAND dpkg-deb -f "${package}" Package OUTPUT_VARIABLE name OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND dpkg-deb -f "${package}" Depends OUTPUT_VARIABLE depends OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE " \\([^)]*\\)" "" depends "${depends}")
  string(REPLACE ", " ";" depends "${depends}")
  list(SORT depends)
  list(JOIN depends " " depends)
  string(APPEND printed "${name}: ${depends}\n")
  execute_process(COMMAND dpkg-deb --fsys-tarfile "${package}" COMMAND tar -t OUTPUT_VARIABLE files
    COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+[^/\n]\n" files "${files}")
  list(SORT files)
  foreach(file IN LISTS files)
    # The libraries' FILE_SETs list the headers, and consumer.tutorial builds every step of the tutorial.
    if(NOT file MATCHES "/include/reckoner/|/tutorial/.+/")
      string(REGEX REPLACE "^\\./" "  " file "${file}")
      # In a build for /usr, libraries are in a folder named after the architecture.
      string(REGEX REPLACE "usr/lib/[a-z0-9_]+-linux-gnu[a-z0-9]*/" "usr/lib/" file "${file}")
      string(APPEND printed "${file}")
    endif()
  endforeach()
endforeach()
string(REGEX REPLACE "Targets-[a-z]+\\.cmake" "Targets-CONFIG.cmake" printed "${printed}")
file(WRITE "${OUT}/printed.txt" "${printed}")
file(READ "${LIST}" expected)
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "expected (${LIST}):\n${expected}\npackaged (${OUT}/printed.txt):\n${printed}")
endif()
