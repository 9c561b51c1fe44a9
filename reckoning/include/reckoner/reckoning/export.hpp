// SPDX-License-Identifier: MIT
#pragma once

/// Marks what a shared reckoner::reckoning promises to others; all else of it is hidden. A static one exports
/// nothing, so that a game's plugin that has one in it does not either: RECKONER_STATIC comes with the CMake
/// target and with pkg-config. Instantiations of templates are marked where they are made: for GLM's types
/// GCC and Clang hide them whatever the template says.
#if defined(RECKONER_STATIC)
#define RECKONER_RECKONING_API
#elif !defined(_WIN32)
#define RECKONER_RECKONING_API __attribute__((visibility("default")))
#elif defined(reckoner_reckoning_EXPORTS)
#define RECKONER_RECKONING_API __declspec(dllexport)
#else
#define RECKONER_RECKONING_API __declspec(dllimport)
#endif

/// Marks what a shared reckoner::net promises to others; all else of it is hidden. A static one exports
/// nothing, so that a game's plugin that has one in it does not either: RECKONER_STATIC comes with the CMake
/// target and with pkg-config.
#if defined(RECKONER_STATIC)
#define RECKONER_NET_API
#elif !defined(_WIN32)
#define RECKONER_NET_API __attribute__((visibility("default")))
#elif defined(reckoner_net_EXPORTS)
#define RECKONER_NET_API __declspec(dllexport)
#else
#define RECKONER_NET_API __declspec(dllimport)
#endif

/// Marks what a shared reckoner::server promises to others; all else of it is hidden. A static one exports
/// nothing, so that a game's plugin that has one in it does not either: RECKONER_STATIC comes with the CMake
/// target and with pkg-config.
#if defined(RECKONER_STATIC)
#define RECKONER_SERVER_API
#elif !defined(_WIN32)
#define RECKONER_SERVER_API __attribute__((visibility("default")))
#elif defined(reckoner_server_EXPORTS)
#define RECKONER_SERVER_API __declspec(dllexport)
#else
#define RECKONER_SERVER_API __declspec(dllimport)
#endif

/// Marks what a shared reckoner::client promises to others; all else of it is hidden. A static one exports
/// nothing, so that a game's plugin that has one in it does not either: RECKONER_STATIC comes with the CMake
/// target and with pkg-config.
#if defined(RECKONER_STATIC)
#define RECKONER_CLIENT_API
#elif !defined(_WIN32)
#define RECKONER_CLIENT_API __attribute__((visibility("default")))
#elif defined(reckoner_client_EXPORTS)
#define RECKONER_CLIENT_API __declspec(dllexport)
#else
#define RECKONER_CLIENT_API __declspec(dllimport)
#endif
