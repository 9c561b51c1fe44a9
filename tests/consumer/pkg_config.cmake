# SPDX-License-Identifier: MIT
# Builds a program with a compiler and pkg-config only, and runs it.
#   cmake -DPREFIX=DIR -DMODULE=reckoner-client -DSOURCE=FILE -DCOMPILER=c++ -DFLAGS=-std=c++20 -DOUT=FILE
#         [-DWITHOUT=enet] -P pkg_config.cmake
file(GLOB_RECURSE found "${PREFIX}/*/${MODULE}.pc")
list(GET found 0 found)
get_filename_component(folder "${found}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} "${folder}")
execute_process(COMMAND pkg-config --cflags --libs ${MODULE}
  OUTPUT_VARIABLE options OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(WITHOUT AND options MATCHES "${WITHOUT}")
  message(FATAL_ERROR "${MODULE} is to do without ${WITHOUT}: ${options}")
endif()
separate_arguments(options UNIX_COMMAND "${options}")
separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
get_filename_component(libraries "${folder}" DIRECTORY)
execute_process(COMMAND ${COMPILER} ${FLAGS} "${SOURCE}" -o "${OUT}" ${options} "-Wl,-rpath,${libraries}"
  COMMAND_ERROR_IS_FATAL ANY)
if(NOT BUILD_ONLY)
  execute_process(COMMAND "${OUT}" COMMAND_ERROR_IS_FATAL ANY)
endif()
