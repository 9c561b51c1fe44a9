// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace reckoner {

/// Threads that share out a loop. The caller works too and returns when all is done, so that between two
/// calls nothing runs. What a loop body computes must not depend on which worker runs it.
class WorkerPool {
 public:
  /// `threads`, the caller's included; 1 (or 0) makes none.
  explicit WorkerPool(unsigned threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(threads_.size()) + 1; }

  /// Calls `work(worker, first, last)` for ranges that cover 0 to `count` - 1, `grain` long except the last;
  /// `worker` is below size(), and no two calls at a time have the same.
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
  void take_part(unsigned worker);
  void live(unsigned worker);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  std::uint64_t round_ = 0;  // guarded by mutex_, as are the next three
  unsigned working_ = 0;
  bool ending_ = false;

  // Written before a round begins, read during it.
  Call call_ = nullptr;
  void* context_ = nullptr;
  std::size_t count_ = 0;
  std::size_t grain_ = 1;
  std::atomic<std::size_t> next_{0};
};

}  // namespace reckoner
