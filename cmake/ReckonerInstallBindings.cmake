# SPDX-License-Identifier: MIT
# Installs the bindings to other languages (component bindings) into share/reckoner: sources that need no compiler and load
# the C library of the same install tree. They contain its place relative to theirs, so that the tree can be moved.
if(NOT RECKONER_C)
  return()
endif()

set(bindings_dir "${CMAKE_INSTALL_DATADIR}/reckoner")
set(bindings "${PROJECT_SOURCE_DIR}/bindings")
set(library_dir "${CMAKE_INSTALL_LIBDIR}")
if(WIN32)
  set(library_dir "${CMAKE_INSTALL_BINDIR}")
endif()

# reckoner_relative(variable from to): the path of a folder relative to another one. Absolute if one of them is.
function(reckoner_relative variable from to)
  if(IS_ABSOLUTE "${from}" OR IS_ABSOLUTE "${to}")
    cmake_path(ABSOLUTE_PATH to BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE OUTPUT_VARIABLE path)
  else()
    file(RELATIVE_PATH path "/${from}" "/${to}")
  endif()
  set(${variable} "${path}" PARENT_SCOPE)
endfunction()

reckoner_relative(library_from_python "${bindings_dir}/python/reckoner" "${library_dir}")
reckoner_relative(programs_from_python "${bindings_dir}/python/reckoner" "${CMAKE_INSTALL_BINDIR}")
reckoner_relative(library_from_lua "${bindings_dir}/lua" "${library_dir}")
file(WRITE "${PROJECT_BINARY_DIR}/installed/_installed.py"
  "# SPDX-License-Identifier: MIT\n"
  "\"\"\"Where this install tree has the C library and the programs, relative to this file.\"\"\"\n"
  "LIBRARIES = \"${library_from_python}\"\n"
  "PROGRAMS = \"${programs_from_python}\"\n")
file(WRITE "${PROJECT_BINARY_DIR}/installed/reckoner_installed.lua"
  "-- SPDX-License-Identifier: MIT\n"
  "-- Where this install tree has the C library, relative to this file.\n"
  "return \"${library_from_lua}\"\n")

install(DIRECTORY "${bindings}/python/src/reckoner" DESTINATION "${bindings_dir}/python" COMPONENT bindings
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
install(FILES "${PROJECT_BINARY_DIR}/installed/_installed.py" DESTINATION "${bindings_dir}/python/reckoner"
  COMPONENT bindings)
install(FILES "${bindings}/python/README.md" DESTINATION "${bindings_dir}/python" COMPONENT bindings)
install(FILES
    "${bindings}/lua/README.md"
    "${bindings}/lua/reckoner.lua"
    "${bindings}/lua/reckoner_declarations.lua"
    "${PROJECT_BINARY_DIR}/installed/reckoner_installed.lua"
  DESTINATION "${bindings_dir}/lua" COMPONENT bindings)
install(DIRECTORY "${bindings}/unity" DESTINATION "${bindings_dir}" COMPONENT bindings
  PATTERN "Tests" EXCLUDE PATTERN "Tests.meta" EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${bindings_dir}" COMPONENT bindings)
