// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace reckoner {

/// A queue in one block of memory. The links of a server have many queues, and nearly all are empty. So a
/// queue has no memory before the first use, unlike `std::deque`. It doubles when it is full. When it becomes
/// empty, it keeps at most kKeptBytes, so that a queue with few elements does not allocate in a steady state,
/// and one that was long once, as after a join, does not keep that memory.
template <class T>
class RingQueue {
 public:
  static constexpr std::size_t kKeptBytes = 1024;

  RingQueue() = default;
  RingQueue(const RingQueue&) = default;
  RingQueue& operator=(const RingQueue&) = default;
  // A queue whose elements were moved away is empty, and can be used.
  RingQueue(RingQueue&& other) noexcept
      : places_(std::exchange(other.places_, {})),
        first_(std::exchange(other.first_, 0u)),
        size_(std::exchange(other.size_, 0u)) {}
  RingQueue& operator=(RingQueue&& other) noexcept {
    if (this == &other) return *this;
    places_ = std::exchange(other.places_, {});
    first_ = std::exchange(other.first_, 0u);
    size_ = std::exchange(other.size_, 0u);
    return *this;
  }
  ~RingQueue() = default;

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// True if the next push_back() allocates.
  [[nodiscard]] bool full() const { return size_ == places_.size(); }
  /// The element with this index, counted from the oldest; it must exist. References are valid until an
  /// element is added or removed.
  [[nodiscard]] T& operator[](std::size_t index) { return places_[(first_ + index) & (places_.size() - 1)]; }
  [[nodiscard]] const T& operator[](std::size_t index) const {
    return places_[(first_ + index) & (places_.size() - 1)];
  }
  [[nodiscard]] T& front() { return (*this)[0]; }
  [[nodiscard]] const T& front() const { return (*this)[0]; }
  [[nodiscard]] T& back() { return (*this)[size_ - 1u]; }
  [[nodiscard]] const T& back() const { return (*this)[size_ - 1u]; }

  void push_back(T element) {
    if (full()) grow();
    ++size_;
    back() = std::move(element);
  }
  void pop_front() {
    assert(!empty());
    forget(front());
    first_ = (first_ + 1) & static_cast<std::uint32_t>(places_.size() - 1);
    --size_;
    release();
  }
  void pop_back() {
    assert(!empty());
    forget(back());
    --size_;
    release();
  }
  void clear() {
    while (!empty())
      pop_back();
  }
  /// Removes the elements for which `f(element)` is true. Calls it once for each, oldest first. Returns the
  /// number of removed elements.
  template <class F>
  std::size_t erase_if(F&& f) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (f((*this)[i])) continue;
      if (kept != i) (*this)[kept] = std::move((*this)[i]);
      ++kept;
    }
    const std::size_t removed = size_ - kept;
    while (size_ > kept)
      pop_back();
    return removed;
  }

 private:
  static constexpr std::size_t kLeast = 4;

  template <class Queue, class Element>
  struct Iterator {
    Queue* queue;
    std::size_t index;

    Element& operator*() const { return (*queue)[index]; }
    Iterator& operator++() {
      ++index;
      return *this;
    }
    bool operator==(const Iterator&) const = default;
  };

 public:
  [[nodiscard]] Iterator<RingQueue, T> begin() { return {this, 0}; }
  [[nodiscard]] Iterator<RingQueue, T> end() { return {this, size_}; }
  [[nodiscard]] Iterator<const RingQueue, const T> begin() const { return {this, 0}; }
  [[nodiscard]] Iterator<const RingQueue, const T> end() const { return {this, size_}; }

 private:
  void grow() {
    std::vector<T> larger(std::max(kLeast, 2 * places_.size()));
    for (std::size_t i = 0; i < size_; ++i)
      larger[i] = std::move((*this)[i]);
    places_ = std::move(larger);
    first_ = 0;
  }
  // Frees what an element has allocated.
  static void forget([[maybe_unused]] T& element) {
    if constexpr (!std::is_trivially_destructible_v<T>) element = T{};
  }
  void release() {
    if (size_ > 0) return;
    first_ = 0;
    if (places_.size() * sizeof(T) > kKeptBytes) places_ = {};
  }

  std::vector<T> places_;  // its size is 0 or a power of two
  std::uint32_t first_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace reckoner
