// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>  // says which C library it is

/// Before the definition of a function that is one loop over arrays: it is compiled for processors with wider
/// vectors too, and the dynamic linker picks what this machine has. Without fused operations, so that the
/// numbers are the same. Nothing where that is not known to work, or where sanitizers would run too early.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RECKONER_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define RECKONER_VECTOR_CLONES
#endif
