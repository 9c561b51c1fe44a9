// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include <reckoner.h>

/// What every function of the C API stands on: nothing thrown gets out, and structs of other versions of the
/// header are read and written as far as both know them.
namespace reckoner::capi {

/// Runs `body`, which returns a reckoner_result.
template <class Body>
reckoner_result guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return RECKONER_ERROR_MEMORY;
  } catch (...) {
    return RECKONER_ERROR_INTERNAL;
  }
}

/// Every sized struct has room for this much, in every version.
inline constexpr std::uint32_t kLeastSize = 8;

/// Fills in the first `size` bytes of a sized struct that the caller has, and its struct_size. What the
/// caller's version has beyond this library's is zero.
template <class T>
void put(T* to, T value, std::uint32_t size) {
  if (to == nullptr || size < kLeastSize) return;
  value.struct_size = size;
  std::memcpy(to, &value, std::min<std::size_t>(size, sizeof value));
  if (size > sizeof value)
    std::memset(reinterpret_cast<std::byte*>(to) + sizeof value, 0, size - sizeof value);
}

/// The same for one whose struct_size the caller has filled in.
template <class T>
[[nodiscard]] reckoner_result give(T* to, const T& value) {
  if (to == nullptr) return RECKONER_ERROR_ARGUMENT;
  if (to->struct_size < kLeastSize) return RECKONER_ERROR_STRUCT;
  put(to, value, to->struct_size);
  return RECKONER_OK;
}

/// Reads a struct of the caller's into `value`, which holds the defaults of what its version lacks. Members
/// beyond this library's must be zero: what they ask for, it does not know.
template <class T>
[[nodiscard]] reckoner_result take(const T* from, T& value) {
  if (from == nullptr) return RECKONER_ERROR_ARGUMENT;
  const std::size_t size = from->struct_size;
  if (size < kLeastSize) return RECKONER_ERROR_STRUCT;
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  if (size > sizeof value &&
      std::any_of(bytes + sizeof value, bytes + size, [](std::byte b) { return b != std::byte{0}; }))
    return RECKONER_ERROR_STRUCT;
  std::memcpy(&value, from, std::min(size, sizeof value));
  return RECKONER_OK;
}

/// Element `i` of an array of sized structs, which lie as far apart as the first one's struct_size says.
template <class T>
[[nodiscard]] const T* element(const T* first, std::size_t i) {
  const auto* bytes = reinterpret_cast<const std::byte*>(first) + i * first->struct_size;
  return reinterpret_cast<const T*>(bytes);
}

/// Copies a text, cut to what there is room for, with the 0 at its end.
inline void say(std::string_view text, char* to, std::size_t size) {
  if (to == nullptr || size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

/// What became of something that is done or not.
[[nodiscard]] constexpr reckoner_result done_or(bool done, reckoner_result otherwise) {
  return done ? RECKONER_OK : otherwise;
}

}  // namespace reckoner::capi
