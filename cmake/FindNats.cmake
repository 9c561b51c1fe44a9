# SPDX-License-Identifier: MIT
# Finds the NATS client library (libnats-dev) and defines Nats::Nats. Installed beside the package config.
find_path(Nats_INCLUDE_DIR nats/nats.h)
find_library(Nats_LIBRARY NAMES nats)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nats REQUIRED_VARS Nats_LIBRARY Nats_INCLUDE_DIR)

if(Nats_FOUND AND NOT TARGET Nats::Nats)
  add_library(Nats::Nats UNKNOWN IMPORTED)
  set_target_properties(Nats::Nats PROPERTIES
    IMPORTED_LOCATION "${Nats_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Nats_INCLUDE_DIR}")
endif()
mark_as_advanced(Nats_INCLUDE_DIR Nats_LIBRARY)
