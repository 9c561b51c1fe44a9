// SPDX-License-Identifier: MIT
#include "server/src/util/worker_pool.hpp"

#include <algorithm>

namespace reckoner {

WorkerPool::WorkerPool(unsigned threads) {
  for (unsigned worker = 1; worker < threads; ++worker)
    threads_.emplace_back([this, worker] { live(worker); });
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
  take_part(0);
  std::unique_lock lock(mutex_);
  end_.wait(lock, [this] { return working_ == 0; });
}

void WorkerPool::take_part(unsigned worker) {
  for (;;) {
    const std::size_t first = next_.fetch_add(grain_, std::memory_order_relaxed);
    if (first >= count_) return;
    call_(context_, worker, first, std::min(first + grain_, count_));
  }
}

void WorkerPool::live(unsigned worker) {
  std::uint64_t done = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return ending_ || round_ != done; });
      if (ending_) return;
      done = round_;
    }
    take_part(worker);
    {
      const std::lock_guard lock(mutex_);
      --working_;
    }
    end_.notify_one();
  }
}

}  // namespace reckoner
