// SPDX-License-Identifier: MIT
#pragma once

/// Exports a symbol from the shared library reckoner::cluster; all other symbols are hidden. In a static
/// build (RECKONER_STATIC) the macro is empty. The CMake target defines RECKONER_STATIC.
#if defined(RECKONER_STATIC)
#define RECKONER_CLUSTER_API
#elif !defined(_WIN32)
#define RECKONER_CLUSTER_API __attribute__((visibility("default")))
#elif defined(reckoner_cluster_EXPORTS)
#define RECKONER_CLUSTER_API __declspec(dllexport)
#else
#define RECKONER_CLUSTER_API __declspec(dllimport)
#endif
