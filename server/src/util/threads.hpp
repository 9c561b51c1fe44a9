// SPDX-License-Identifier: MIT
#pragma once

/// Threads, where the platform has them. WebAssembly without shared memory has none: the macro is then 0, a
/// mutex does nothing, and every loop runs on the calling thread.
#if defined(__wasm__) && !defined(__wasm_atomics__)
#define RECKONER_THREADS 0
#else
#define RECKONER_THREADS 1
#endif

#include <mutex>

#if RECKONER_THREADS
#include <algorithm>
#include <thread>
#endif

namespace reckoner {

#if RECKONER_THREADS
using Mutex = std::mutex;

/// Number of threads that the machine can run at once, at least 1.
[[nodiscard]] inline unsigned hardware_threads() {
  return std::max(1u, std::thread::hardware_concurrency());
}
#else
struct Mutex {
  void lock() {}
  void unlock() {}
  bool try_lock() { return true; }
};

[[nodiscard]] inline unsigned hardware_threads() {
  return 1;
}
#endif

}  // namespace reckoner
