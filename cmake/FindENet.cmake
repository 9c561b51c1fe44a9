# SPDX-License-Identifier: MIT
# Finds ENet (libenet-dev) and defines ENet::ENet. Installed beside the package config, for static builds.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_ENET QUIET libenet)
endif()
find_path(ENet_INCLUDE_DIR enet/enet.h HINTS ${PC_ENET_INCLUDE_DIRS})
find_library(ENet_LIBRARY NAMES enet HINTS ${PC_ENET_LIBRARY_DIRS})
set(ENet_VERSION "${PC_ENET_VERSION}")

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ENet REQUIRED_VARS ENet_LIBRARY ENet_INCLUDE_DIR VERSION_VAR ENet_VERSION)

if(ENet_FOUND AND NOT TARGET ENet::ENet)
  add_library(ENet::ENet UNKNOWN IMPORTED)
  set_target_properties(ENet::ENet PROPERTIES
    IMPORTED_LOCATION "${ENet_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${ENet_INCLUDE_DIR}")
  if(WIN32)
    set_property(TARGET ENet::ENet APPEND PROPERTY INTERFACE_LINK_LIBRARIES ws2_32 winmm)
  endif()
endif()
mark_as_advanced(ENet_INCLUDE_DIR ENet_LIBRARY)
