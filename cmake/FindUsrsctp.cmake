# SPDX-License-Identifier: MIT
# Finds usrsctp (libusrsctp-dev) and defines Usrsctp::Usrsctp.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_USRSCTP QUIET usrsctp)
endif()
find_path(Usrsctp_INCLUDE_DIR usrsctp.h HINTS ${PC_USRSCTP_INCLUDE_DIRS})
find_library(Usrsctp_LIBRARY NAMES usrsctp HINTS ${PC_USRSCTP_LIBRARY_DIRS})
set(Usrsctp_VERSION "${PC_USRSCTP_VERSION}")

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Usrsctp REQUIRED_VARS Usrsctp_LIBRARY Usrsctp_INCLUDE_DIR
                                  VERSION_VAR Usrsctp_VERSION)

if(Usrsctp_FOUND AND NOT TARGET Usrsctp::Usrsctp)
  find_package(Threads REQUIRED)
  add_library(Usrsctp::Usrsctp UNKNOWN IMPORTED)
  set_target_properties(Usrsctp::Usrsctp PROPERTIES
    IMPORTED_LOCATION "${Usrsctp_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Usrsctp_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
mark_as_advanced(Usrsctp_INCLUDE_DIR Usrsctp_LIBRARY)
