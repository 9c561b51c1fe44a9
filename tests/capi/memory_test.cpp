// SPDX-License-Identifier: MIT
// When any allocation fails, the caller gets an error code: no exception crosses the C API, nothing leaks,
// and the next attempt works.
#include "pair.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> allowed{-1};  // allocations that still succeed; below zero: all
std::atomic<long> living{0};

__attribute__((noinline)) void* allocate(std::size_t size) {
  if (allowed >= 0 && allowed-- == 0) {
    allowed = 0;
    throw std::bad_alloc();
  }
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  ++living;
  return memory;
}

__attribute__((noinline)) void release(void* memory) {
  if (memory != nullptr) --living;
  std::free(memory);
}

}  // namespace

// The library uses the program's operator new, so its memory comes from here, too.
void* operator new(std::size_t size) {
  return allocate(size);
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}

namespace reckoner::test {
namespace {

TEST(CMemory, RunningOutIsReportedAsAnError) {
  Pair pair;
  int failures = 0;
  for (long count = 0;; ++count) {
    ASSERT_LT(count, 5000);
    const long before = living;
    allowed = count;
    const auto result = reckoner_server_create(&pair.server_config, &pair.server, nullptr, 0);
    const bool ran_out = allowed == 0;
    allowed = -1;
    if (result == RECKONER_OK) break;
    ASSERT_EQ(result, RECKONER_ERROR_MEMORY) << count;
    ASSERT_TRUE(ran_out);
    ASSERT_EQ(pair.server, nullptr);
    ASSERT_EQ(living, before) << "leaked with " << count << " allocations";
    ++failures;
  }
  EXPECT_GT(failures, 10);

  const reckoner_state state = at(0.0, 0.0, 0.0);
  reckoner_entity entity = 0;
  for (long count = 0;; ++count) {
    ASSERT_LT(count, 1000);
    allowed = count;
    const auto result =
        reckoner_server_spawn(pair.server, 0, "a name that is longer than a short one", &state, 0, &entity);
    allowed = -1;
    if (result == RECKONER_OK) break;
    ASSERT_EQ(result, RECKONER_ERROR_MEMORY);
  }
  EXPECT_NE(entity, 0u);
}

std::atomic<long> network_blocks{0};

void* allocate_for_network(std::size_t bytes) {
  ++network_blocks;
  return std::malloc(bytes);
}
void release_for_network(void* memory) {
  if (memory != nullptr) --network_blocks;
  std::free(memory);
}

TEST(CMemory, NetworkMemoryComesFromTheGamesAllocator) {
  EXPECT_EQ(reckoner_set_allocator(allocate_for_network, nullptr), RECKONER_ERROR_ARGUMENT);
  ASSERT_EQ(reckoner_set_allocator(allocate_for_network, release_for_network), RECKONER_OK);
  {
    Pair pair;
    ASSERT_TRUE(pair.start());
    EXPECT_GT(network_blocks, 4);
    EXPECT_EQ(reckoner_set_allocator(nullptr, nullptr), RECKONER_ERROR_REFUSED);
  }
  EXPECT_EQ(network_blocks, 0);
  ASSERT_EQ(reckoner_set_allocator(nullptr, nullptr), RECKONER_OK);
  Pair pair;
  ASSERT_TRUE(pair.start());
  EXPECT_EQ(network_blocks, 0);
}

}  // namespace
}  // namespace reckoner::test
