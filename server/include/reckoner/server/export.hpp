// SPDX-License-Identifier: MIT
#pragma once

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
