# SPDX-License-Identifier: MIT
# CPack: a ZIP file for Windows (./dev windows); otherwise a source archive anywhere, and three Debian packages from a build
# under Debian or Ubuntu (./dev package):
#   libreckoner2      the C library; its ABI is stable
#   libreckoner-dev   headers, the C++ libraries, the CMake package, pkg-config files
#   reckoner-tools    the programs with their manuals
# The C++ libraries are static, because their ABI is not stable.
set(CPACK_PACKAGE_NAME reckoner)
set(CPACK_PACKAGE_VENDOR Reckoner)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ)
if(WIN32)
  set(CPACK_GENERATOR ZIP)
  set(CPACK_PACKAGE_FILE_NAME "reckoner-${PROJECT_VERSION}-windows-x64")
  set(CPACK_INCLUDE_TOPLEVEL_DIRECTORY OFF)
  # The static libraries need ENet, libsodium and GLM, so the file contains these, too, and the licences of all
  # libraries that are in the programs.
  if(RECKONER_WINDOWS_DEPENDENCIES)
    set(from "${RECKONER_WINDOWS_DEPENDENCIES}")
    install(FILES "${from}/lib/libenet.a" "${from}/lib/libsodium.a" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(FILES "${from}/include/sodium.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
    install(DIRECTORY "${from}/include/enet" "${from}/include/sodium" "${from}/include/glm"
      DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
    install(DIRECTORY "${from}/lib/cmake/glm" DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake")
    install(DIRECTORY "${from}/licences" DESTINATION .)
    install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION licences RENAME reckoner.txt)
  endif()
  include(CPack)
  return()
endif()
find_program(RECKONER_DPKG_DEB dpkg-deb)
find_program(RECKONER_DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(RECKONER_DPKG_DEB RECKONER_DPKG_SHLIBDEPS)
if(RECKONER_DPKG_DEB AND RECKONER_DPKG_SHLIBDEPS)
  set(CPACK_GENERATOR DEB)
endif()

set(CPACK_COMPONENTS_ALL runtime development)
if(programs)
  list(APPEND CPACK_COMPONENTS_ALL tools)
  # A package with the programs has their manual pages, as Debian's policy asks. Without them, cpack fails.
  # A source archive (CPACK_INSTALLED_DIRECTORIES) needs none.
  if(NOT makes_manuals)
    set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_BINARY_DIR}/without_manuals.cmake")
    file(WRITE "${CPACK_PRE_BUILD_SCRIPTS}"
"if(NOT CPACK_INSTALLED_DIRECTORIES)
  message(FATAL_ERROR \"The packages need the manual pages, which only a native build with Python makes.\")
endif()
")
  endif()
endif()

# Installs the licence as Debian's policy requires.
if(RECKONER_DPKG_DEB)
  set(package_runtime libreckoner2)
  set(package_development libreckoner-dev)
  set(package_tools reckoner-tools)
  foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    set(package "${package_${component}}")
    install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/${package}"
      RENAME copyright COMPONENT ${component})
  endforeach()
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Reckoner authors <reckoner@localhost>")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libreckoner2)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The library for C and other languages that call C.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libreckoner-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libreckoner2 (= ${PROJECT_VERSION}), libglm-dev, libenet-dev, libsodium-dev")
if(TARGET reckoner_cluster)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libnats-dev")
endif()
if(TARGET reckoner_web)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libwebsockets-dev, libssl-dev, libusrsctp-dev")
endif()
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers and the C++ libraries, for building games.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME reckoner-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION net)
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS gnuplot-nox)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "Server, client, and the harness that measures what players would see.")
include(CPack)
