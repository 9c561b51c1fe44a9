// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/util/threads.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

namespace reckoner {

#if RECKONER_THREADS
/// Runs the iterations of a loop on several threads. The calling thread works too, and run() returns when all
/// iterations are done, so the threads are idle between two calls. The result of an iteration must not depend
/// on the worker that runs it.
class WorkerPool {
 public:
  /// `threads` counts the calling thread: the pool starts `threads` - 1 threads, and none for 0 or 1. If the
  /// system has fewer threads, the pool is smaller.
  explicit WorkerPool(unsigned threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(threads_.size()) + 1; }

  /// Calls `work(worker, first, last)` for ranges [first, last) that together cover 0 to `count` - 1. Each
  /// range has `grain` indices, except the last range, which may have fewer. If there is only one thread, or
  /// if `count` is at most `grain`, there is only one range. `worker` is less than size(). Two calls that run
  /// at the same time have different workers.
  /// If `work` throws, the other ranges may be left out, and run() throws the first exception.
  template <class F>
  void run(std::size_t count, std::size_t grain, F&& work) {
    if (threads_.empty() || count <= grain) {
      if (count > 0) work(0u, std::size_t{0}, count);
      return;
    }
    share(count, grain, &work, [](void* context, unsigned worker, std::size_t first, std::size_t last) {
      (*static_cast<std::remove_reference_t<F>*>(context))(worker, first, last);
    });
  }

 private:
  using Call = void (*)(void* context, unsigned worker, std::size_t first, std::size_t last);

  void share(std::size_t count, std::size_t grain, void* context, Call call);
  void run_chunks(unsigned worker);
  void worker_loop(unsigned worker);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  std::uint64_t round_ = 0;  // number of the current run; mutex_ guards round_, working_ and ending_
  unsigned working_ = 0;
  bool ending_ = false;
  std::exception_ptr failure_;  // of the current run; mutex_ guards it

  // share() writes these before a run begins; the workers read them during it.
  Call call_ = nullptr;
  void* context_ = nullptr;
  std::size_t count_ = 0;
  std::size_t grain_ = 1;
  std::atomic<std::size_t> next_{0};
};
#else
/// The pool of a platform without threads: the calling thread runs each loop.
class WorkerPool {
 public:
  explicit WorkerPool(unsigned) {}
  [[nodiscard]] unsigned size() const { return 1; }

  template <class F>
  void run(std::size_t count, std::size_t, F&& work) {
    if (count > 0) work(0u, std::size_t{0}, count);
  }
};
#endif

}  // namespace reckoner
