# SPDX-License-Identifier: MIT
# One .pc file for each C++ library, reckoner-reckoning to reckoner-web, and reckoner.pc for the C one.
set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()  # relative, so that the install tree can be moved
  file(RELATIVE_PATH pc_up "/${pc_dir}" "/")
  string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
  set(pc_prefix "\${pcfiledir}/${pc_up}")
endif()

# Only some systems have a .pc file for GLM. On others, GLM is in the compiler's default include path.
set(pc_glm "")
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_GLM QUIET glm)
  if(PC_GLM_FOUND)
    set(pc_glm glm)
  endif()
endif()

# reckoner_pc(name description REQUIRES modules... [NEEDS modules of other projects for static linking])
function(reckoner_pc name description)
  cmake_parse_arguments(ARG "" "" "REQUIRES;NEEDS" ${ARGN})
  list(JOIN ARG_REQUIRES " " requires)
  list(JOIN ARG_NEEDS " " needs)
  set(cflags "-I\${includedir}")
  set(requires_line "Requires: ${requires}")
  get_target_property(type reckoner_${name} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")  # there is only a static library, so its private modules are always required
    string(APPEND requires_line " ${needs}")
    string(APPEND cflags " -DRECKONER_STATIC")
  elseif(needs)
    string(APPEND requires_line "\nRequires.private: ${needs}")
  endif()
  get_target_property(library reckoner_${name} OUTPUT_NAME)
  set(file "${PROJECT_BINARY_DIR}/${library}.pc")
  file(WRITE "${file}"
    "prefix=${pc_prefix}\n"
    "includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}\n"
    "libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}\n\n"
    "Name: ${library}\nDescription: ${description}\nVersion: ${PROJECT_VERSION}\n"
    "${requires_line}\nLibs: -L\${libdir} -l${library}\nCflags: ${cflags}\n")
  install(FILES "${file}" DESTINATION "${pc_dir}" COMPONENT development)
endfunction()

reckoner_pc(reckoning "The mathematics of motion that is shown elsewhere (C++20)" REQUIRES ${pc_glm})
if(RECKONER_NETWORK)
  reckoner_pc(net "The wire of Reckoner (C++20)"
    REQUIRES "reckoner-reckoning = ${PROJECT_VERSION}" NEEDS libenet libsodium)
  reckoner_pc(server "Publishes how entities move (C++20)" REQUIRES "reckoner-net = ${PROJECT_VERSION}")
  reckoner_pc(client "Shows remote entities (C++20)" REQUIRES "reckoner-net = ${PROJECT_VERSION}")
endif()
if(RECKONER_CLUSTER)
  reckoner_pc(cluster "One world on several servers over NATS (C++20)"
    REQUIRES "reckoner-server = ${PROJECT_VERSION}" NEEDS libnats)
endif()
if(RECKONER_WEB)
  reckoner_pc(web "A server for players in browsers (C++20)"
    REQUIRES "reckoner-net = ${PROJECT_VERSION}" NEEDS libwebsockets libssl libcrypto usrsctp)
endif()
if(RECKONER_C)
  reckoner_pc(c "Reckoner for C: publishes how entities move, and shows remote ones")
endif()
