// SPDX-License-Identifier: MIT
#pragma once

/// Exports a symbol from the shared library reckoner::reckoning; all other symbols are hidden. In a static
/// build (RECKONER_STATIC) the macro is empty, so a game plugin that links the static library does not export
/// these symbols either. The CMake target and pkg-config define RECKONER_STATIC.
///
/// For templates, write the macro at each explicit instantiation. The macro at the template itself is not
/// enough: GCC and Clang hide instantiations for GLM's types in any case.
#if defined(RECKONER_STATIC)
#define RECKONER_RECKONING_API
#elif !defined(_WIN32)
#define RECKONER_RECKONING_API __attribute__((visibility("default")))
#elif defined(reckoner_reckoning_EXPORTS)
#define RECKONER_RECKONING_API __declspec(dllexport)
#else
#define RECKONER_RECKONING_API __declspec(dllimport)
#endif

/// Exports a symbol from the shared library reckoner::net; all other symbols are hidden. In a static build
/// (RECKONER_STATIC) the macro is empty, so a game plugin that links the static library does not export these
/// symbols either. The CMake target and pkg-config define RECKONER_STATIC.
#if defined(RECKONER_STATIC)
#define RECKONER_NET_API
#elif !defined(_WIN32)
#define RECKONER_NET_API __attribute__((visibility("default")))
#elif defined(reckoner_net_EXPORTS)
#define RECKONER_NET_API __declspec(dllexport)
#else
#define RECKONER_NET_API __declspec(dllimport)
#endif

/// Exports a symbol from the shared library reckoner::server; all other symbols are hidden. In a static build
/// (RECKONER_STATIC) the macro is empty, so a game plugin that links the static library does not export these
/// symbols either. The CMake target and pkg-config define RECKONER_STATIC.
#if defined(RECKONER_STATIC)
#define RECKONER_SERVER_API
#elif !defined(_WIN32)
#define RECKONER_SERVER_API __attribute__((visibility("default")))
#elif defined(reckoner_server_EXPORTS)
#define RECKONER_SERVER_API __declspec(dllexport)
#else
#define RECKONER_SERVER_API __declspec(dllimport)
#endif

/// Exports a symbol from the shared library reckoner::client; all other symbols are hidden. In a static build
/// (RECKONER_STATIC) the macro is empty, so a game plugin that links the static library does not export these
/// symbols either. The CMake target and pkg-config define RECKONER_STATIC.
#if defined(RECKONER_STATIC)
#define RECKONER_CLIENT_API
#elif !defined(_WIN32)
#define RECKONER_CLIENT_API __attribute__((visibility("default")))
#elif defined(reckoner_client_EXPORTS)
#define RECKONER_CLIENT_API __declspec(dllexport)
#else
#define RECKONER_CLIENT_API __declspec(dllimport)
#endif
