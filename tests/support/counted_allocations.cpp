// SPDX-License-Identifier: MIT
#include "tests/support/counted_allocations.hpp"

#include <cstdlib>
#include <new>
#if defined(_WIN32)
#include <malloc.h>  // _aligned_malloc()
#endif

namespace reckoner::test {

std::atomic<std::size_t> allocations = 0;
std::atomic<bool> counting = false;

}  // namespace reckoner::test

namespace {

void* allocate(std::size_t size, std::size_t alignment) {
  if (reckoner::test::counting) ++reckoner::test::allocations;
#if defined(_WIN32)
  void* const memory = _aligned_malloc(size, alignment);
#else
  void* const memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
#endif
  if (memory == nullptr) std::abort();
  return memory;
}

void release(void* memory) {
#if defined(_WIN32)
  _aligned_free(memory);
#else
  std::free(memory);
#endif
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, alignof(std::max_align_t));
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  release(memory);
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}
