# SPDX-License-Identifier: MIT
# Install rules. Components: runtime (shared libraries), development (headers, static libraries, the CMake package and
# pkg-config files), tools (the programs with their manuals) and bindings (other languages over the C library).
if(NOT RECKONER_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/reckoner")
get_property(libraries GLOBAL PROPERTY RECKONER_INSTALLED_LIBRARIES)
get_property(programs GLOBAL PROPERTY RECKONER_INSTALLED_PROGRAMS)

install(TARGETS ${libraries} EXPORT reckonerTargets
  RUNTIME COMPONENT runtime
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development
  FILE_SET HEADERS COMPONENT development)
install(EXPORT reckonerTargets NAMESPACE reckoner:: DESTINATION "${package_dir}" COMPONENT development)
if(programs)
  install(TARGETS ${programs} RUNTIME COMPONENT tools)
  # The manual pages are what the programs say under --help, so the programs must run on this machine.
  find_package(Python3 COMPONENTS Interpreter)
  set(makes_manuals OFF)
  if(Python3_FOUND AND NOT CMAKE_CROSSCOMPILING)
    set(makes_manuals ON)
    list(TRANSFORM programs REPLACE "(.+)" "${PROJECT_BINARY_DIR}/manuals/\\1.1" OUTPUT_VARIABLE manuals)
    add_custom_command(OUTPUT ${manuals}
      COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/cmake/make_manuals.py"
        "${RECKONER_PROGRAM_DIR}" "${PROJECT_BINARY_DIR}/manuals"
      DEPENDS ${programs} "${PROJECT_SOURCE_DIR}/cmake/make_manuals.py"
      COMMENT "Making the manual pages" VERBATIM)
    add_custom_target(reckoner_manuals ALL DEPENDS ${manuals})
    install(FILES ${manuals} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT tools)
  else()
    add_custom_target(reckoner_manuals)
    message(STATUS "Without Python, or for another processor, no manual pages are made.")
  endif()
  install(FILES
      "${PROJECT_SOURCE_DIR}/deploy/grafana.json"
      "${PROJECT_SOURCE_DIR}/deploy/nats.conf"
      "${PROJECT_SOURCE_DIR}/deploy/reckoner-server.service"
      "${PROJECT_SOURCE_DIR}/deploy/server.toml"
    DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/reckoner-tools/examples" COMPONENT tools)
endif()

# A game that links a static reckoner::net also links ENet, so the package must find ENet. With a shared one it does not.
set(RECKONER_NET_NEEDS_ENET OFF)
if(TARGET reckoner_net)
  get_target_property(net_type reckoner_net TYPE)
  if(net_type STREQUAL "STATIC_LIBRARY")
    set(RECKONER_NET_NEEDS_ENET ON)
  endif()
endif()
set(RECKONER_CLUSTER_NEEDS_NATS OFF)
if(TARGET reckoner_cluster)
  get_target_property(cluster_type reckoner_cluster TYPE)
  if(cluster_type STREQUAL "STATIC_LIBRARY")
    set(RECKONER_CLUSTER_NEEDS_NATS ON)
  endif()
endif()
set(RECKONER_WEB_NEEDS_WEBSOCKETS OFF)
if(TARGET reckoner_web)
  get_target_property(web_type reckoner_web TYPE)
  if(web_type STREQUAL "STATIC_LIBRARY")
    set(RECKONER_WEB_NEEDS_WEBSOCKETS ON)
  endif()
endif()
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/reckonerConfig.cmake.in" "${PROJECT_BINARY_DIR}/reckonerConfig.cmake"
  INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/reckonerConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/reckonerConfig.cmake"
    "${PROJECT_BINARY_DIR}/reckonerConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/FindENet.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/FindSodium.cmake"
  DESTINATION "${package_dir}" COMPONENT development)
if(RECKONER_CLUSTER_NEEDS_NATS)
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/FindNats.cmake" DESTINATION "${package_dir}" COMPONENT development)
endif()
if(RECKONER_WEB_NEEDS_WEBSOCKETS)
  install(FILES
      "${PROJECT_SOURCE_DIR}/cmake/FindUsrsctp.cmake"
      "${PROJECT_SOURCE_DIR}/cmake/FindWebsockets.cmake"
    DESTINATION "${package_dir}" COMPONENT development)
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT development)

include(ReckonerInstallBindings)
include(ReckonerPkgConfig)
include(ReckonerPackages)
