// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// What the C library has besides reckoner.h in WebAssembly, and what it needs from JavaScript. bindings/web
/// calls these functions; they are no part of the C API. Ids of entities are doubles here: they are below
/// 2^48, and JavaScript allocates memory for each 64-bit integer.
#define RECKONER_WEB(name) extern "C" __attribute__((export_name(#name), used))
#define RECKONER_WEB_IMPORT(name) extern "C" __attribute__((import_module("reckoner"), import_name(#name)))
