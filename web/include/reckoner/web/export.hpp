// SPDX-License-Identifier: MIT
#pragma once

/// Exports a symbol from the shared library reckoner::web; all other symbols are hidden. In a static build
/// (RECKONER_STATIC) the macro is empty. The CMake target defines RECKONER_STATIC.
#if defined(RECKONER_STATIC)
#define RECKONER_WEB_API
#else
#define RECKONER_WEB_API __attribute__((visibility("default")))
#endif
