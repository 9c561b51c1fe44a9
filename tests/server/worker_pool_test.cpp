// SPDX-License-Identifier: MIT
#include "server/src/util/worker_pool.hpp"

#include <atomic>
#include <cstddef>
#include <new>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(WorkerPool, EveryIndexIsProcessedOnce) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    WorkerPool pool(threads);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{16},
                                    std::size_t{17}, std::size_t{1000}}) {
      std::vector<std::atomic<int>> times(count);
      pool.run(count, 16, [&](unsigned worker, std::size_t first, std::size_t last) {
        EXPECT_LT(worker, pool.size());
        for (std::size_t i = first; i < last; ++i)
          ++times[i];
      });
      for (const auto& once : times)
        EXPECT_EQ(once, 1);
    }
  }
}

// A worker that runs out of memory must not end the process: the caller can report it.
TEST(WorkerPool, ExceptionReachesTheCallerAndThePoolWorksOn) {
  WorkerPool pool(3);
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(pool.run(200, 1,
                          [&](unsigned, std::size_t first, std::size_t) {
                            if (first == 150) throw std::bad_alloc();
                          }),
                 std::bad_alloc);
    std::atomic<std::size_t> done = 0;
    pool.run(200, 1, [&](unsigned, std::size_t first, std::size_t last) { done += last - first; });
    EXPECT_EQ(done, 200u);
  }
}

}  // namespace
}  // namespace reckoner
