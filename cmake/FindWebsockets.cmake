# SPDX-License-Identifier: MIT
# Finds libwebsockets (libwebsockets-dev) and defines Websockets::Websockets. Installed beside the package config.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_WEBSOCKETS QUIET libwebsockets)
endif()
find_path(Websockets_INCLUDE_DIR libwebsockets.h HINTS ${PC_WEBSOCKETS_INCLUDE_DIRS})
find_library(Websockets_LIBRARY NAMES websockets HINTS ${PC_WEBSOCKETS_LIBRARY_DIRS})
set(Websockets_VERSION "${PC_WEBSOCKETS_VERSION}")

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Websockets REQUIRED_VARS Websockets_LIBRARY Websockets_INCLUDE_DIR
  VERSION_VAR Websockets_VERSION)

if(Websockets_FOUND AND NOT TARGET Websockets::Websockets)
  add_library(Websockets::Websockets UNKNOWN IMPORTED)
  set_target_properties(Websockets::Websockets PROPERTIES
    IMPORTED_LOCATION "${Websockets_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Websockets_INCLUDE_DIR}")
endif()
mark_as_advanced(Websockets_INCLUDE_DIR Websockets_LIBRARY)
