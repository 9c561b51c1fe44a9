// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>  // defines __GLIBC__

/// Put this before the definition of a function that is a single loop over arrays. The compiler then also
/// builds it for processors with wider vectors, and the dynamic linker selects the version for the machine.
/// No version uses fused multiply-add, so all versions give equal results. The macro is empty on platforms
/// where this is not known to work. It is also empty with sanitizers, because the code that selects the
/// version would run before the sanitizer is ready.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RECKONER_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define RECKONER_VECTOR_CLONES
#endif
