// SPDX-License-Identifier: MIT
#include "server/src/util/worker_pool.hpp"

#if RECKONER_THREADS

#include <algorithm>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

namespace reckoner {

WorkerPool::WorkerPool(unsigned threads) {
  // Stacks may take all address space that a limit allows. This is kept for the program itself; it uses no
  // memory.
  constexpr std::size_t kReserveBytes = 32 << 20;
  std::unique_ptr<std::byte[]> reserve;
  if (threads > 1) reserve.reset(new (std::nothrow) std::byte[kReserveBytes]);
  try {
    for (unsigned worker = 1; worker < threads; ++worker)
      threads_.emplace_back([this, worker] { worker_loop(worker); });
  } catch (const std::system_error&) {
    // The system has no more threads for this process. The pool works with those that it has.
  }
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

void WorkerPool::share(std::size_t count, std::size_t grain, void* context, Call call) {
  {
    const std::lock_guard lock(mutex_);
    call_ = call;
    context_ = context;
    count_ = count;
    grain_ = grain;
    next_ = 0;
    working_ = static_cast<unsigned>(threads_.size());
    ++round_;
  }
  begin_.notify_all();
  run_chunks(0);
  std::unique_lock lock(mutex_);
  end_.wait(lock, [this] { return working_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void WorkerPool::run_chunks(unsigned worker) {
  try {
    for (;;) {
      const std::size_t first = next_.fetch_add(grain_, std::memory_order_relaxed);
      if (first >= count_) return;
      call_(context_, worker, first, std::min(first + grain_, count_));
    }
  } catch (...) {  // usually std::bad_alloc; the caller of run() gets it
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void WorkerPool::worker_loop(unsigned worker) {
  std::uint64_t done = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return ending_ || round_ != done; });
      if (ending_) return;
      done = round_;
    }
    run_chunks(worker);
    {
      const std::lock_guard lock(mutex_);
      --working_;
    }
    end_.notify_one();
  }
}

}  // namespace reckoner

#endif  // RECKONER_THREADS
